# hone for aarch64, as the worker of `--device qemu:aarch64`. Needs the cross compiler and the libraries of that
# architecture; AARCH64_PACKAGES are Debian's names.
AARCH64_PACKAGES := gcc-aarch64-linux-gnu qemu-user libjansson-dev:arm64 libsqlite3-dev:arm64 libxxhash-dev:arm64 \
                    libssl-dev:arm64

.PHONY: aarch64
aarch64:
	@echo "needs: dpkg --add-architecture arm64; apt-get install $(AARCH64_PACKAGES)"
	PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig $(MAKE) CC='$(CROSS_CC)aarch64-linux-gnu-gcc' \
	  AR=aarch64-linux-gnu-ar BUILD=build/aarch64 build/aarch64/hone
