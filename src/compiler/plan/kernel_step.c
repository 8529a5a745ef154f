/* A step of a kernel: its work items, scratch memory, and what of it is needed at run time. */
#include "builder.h"

hone_status add_kernel(struct builder *b, const struct node *node, const struct choice *choice,
                       const struct problem *problem, const struct view views[3],
                       const struct epilogue *epilogue, double flops, struct step **out) {
  const struct kernel_target *target = &b->plan->schedule.kernels;
  const struct kernel *kernel = choice->kernel;
  struct step *step;
  struct problem limited = *problem;
  struct epilogue own = {.program = {.result = PROGRAM_RAW}};
  size_t count = b->plan->steps.count;
  const struct step *before = count ? b->plan->steps.at[count - 1] : NULL;
  if (epilogue) own = *epilogue;
  if (b->is_open) TRY(add_limits(b, choice, &views[2], &limited, &own));
  TRY(new_step(b, STEP_KERNEL, node, 2, 1, &step));
  /* no other step uses the border around the image */
  const bool is_next = b->plan->steps.count == count + 1; /* no step of sizes in between */
  step->overlaps_previous = is_next && before && before->kind == STEP_COPY &&
                            !before->inputs[0].buffer &&
                            before->outputs[0].buffer == views[2].buffer;
  step->choice = *choice;
  step->problem = limited;
  step->inputs[0] = views[0];
  step->inputs[1] = views[1];
  step->outputs[0] = views[2];
  step->epilogue = own;
  step->units = kernel->units(problem, target, choice);
  step_share(step, flops, WORK_KERNEL);
  if (b->is_open) TRY(set_active_prefix(b, step));
  *out = step;
  size_t slice = kernel->scratch_bytes ? kernel->scratch_bytes(problem, target, choice) : 0;
  if (!slice) return HONE_OK;
  if (!checked_align(slice, 64, &step->scratch_slice))
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "scratch too large");
  /* set_lifetimes sets the size, for all threads */
  return new_buffer(b, BUFFER_ARENA, 0, &step->scratch);
}
