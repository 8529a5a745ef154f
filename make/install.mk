# make install PREFIX=/usr/local DESTDIR=, make uninstall: the command, the library, its one header.
SONAME := libhone.so.0
INSTALLED := bin/hone include/hone.h lib/libhone.a lib/libhone.so lib/$(SONAME) lib/pkgconfig/hone.pc \
             share/man/man1/hone.1 share/doc/hone/LICENSE share/doc/hone/README.md \
             share/bash-completion/completions/hone share/zsh/site-functions/_hone \
             share/fish/vendor_completions.d/hone.fish

.PHONY: install uninstall
$(BUILD)/hone.1: $(BUILD)/hone tools/manpage.sh
	tools/manpage.sh $(BUILD)/hone >$@.tmp && mv $@.tmp $@
install: all $(BUILD)/hone.1
	tools/install.sh $(BUILD) '$(DESTDIR)' '$(PREFIX)' $(VERSION) '$(PACKAGES)'
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))
	-rmdir $(DESTDIR)$(PREFIX)/share/doc/hone 2>/dev/null
