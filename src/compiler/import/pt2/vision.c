/* vision: affine grids and the operators of torchvision. */
#include "pt2.h"

hone_status build_affine_grid(struct pt_op *op) {
  struct value *theta;
  int64_t dims[HONE_MAX_RANK], align;
  size_t count;
  TRY(pt_need(op, "theta", &theta));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  TRY(pt_int(op, "align_corners", 0, &align));
  return pt_result(op, 0,
                   x_args(op->b, OP_AffineGrid, VALUES(theta, x_list(op->b, dims, count)),
                          ARGS(INT_ARG("align_corners", align))));
}

/* roi_align: rois [count, 5], the image index first. */
hone_status build_roi_align(struct pt_op *op) {
  struct value *x, *rois, *boxes;
  double scale;
  int64_t height, width, ratio, aligned;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "rois", &rois));
  TRY(pt_float(op, "spatial_scale", 1, &scale));
  TRY(pt_int(op, "pooled_height", 1, &height));
  TRY(pt_int(op, "pooled_width", 1, &width));
  TRY(pt_int(op, "sampling_ratio", -1, &ratio));
  TRY(pt_int(op, "aligned", 0, &aligned));
  if (rois->shape.rank != 2 || rois->shape.dims[1] != 5) return pt_refuse(op, "of these boxes");
  const int64_t flat[] = {rois->shape.dims[0]};
  boxes = pt_slice(op, rois, 1, 1, 5, 1);
  struct value *pictures = pt_slice(op, rois, 1, 0, 1, 1);
  pictures = x_cast(op->b, x_reshape(op->b, pictures, flat, 1), HONE_I64);
  struct value *y = x_args(
      op->b, OP_RoiAlign, VALUES(x, boxes, pictures),
      ARGS(INT_ARG("output_height", height), INT_ARG("output_width", width),
           INT_ARG("sampling_ratio", ratio < 0 ? 0 : ratio), FLOAT_ARG("spatial_scale", scale),
           STRING_ARG("coordinate_transformation_mode",
                      aligned ? "half_pixel" : "output_half_pixel")));
  return pt_result(op, 0, y);
}

hone_status build_roi_pool(struct pt_op *op) {
  struct value *x, *rois;
  double scale;
  int64_t bins[2];
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "rois", &rois));
  TRY(pt_float(op, "spatial_scale", 1, &scale));
  TRY(pt_int(op, "pooled_height", 1, &bins[0]));
  TRY(pt_int(op, "pooled_width", 1, &bins[1]));
  return pt_result(
      op, 0,
      x_args(op->b, OP_MaxRoiPool, VALUES(x, rois),
             ARGS(INTS_ARG("pooled_shape", bins, 2), FLOAT_ARG("spatial_scale", scale))));
}

/* Boxes [n, 4], scores [n]: indices of the boxes that do not overlap a better one by more than a
 * threshold, best first. */
hone_status build_nms(struct pt_op *op) {
  struct value *boxes, *scores;
  double overlap;
  TRY(pt_need(op, "dets", &boxes));
  TRY(pt_need(op, "scores", &scores));
  TRY(pt_float(op, "iou_threshold", 0, &overlap));
  if (boxes->shape.rank != 2 || scores->shape.rank != 1) return pt_refuse(op, "of these boxes");
  const int64_t n = boxes->shape.dims[0], all[] = {1, n, 4}, one[] = {1, 1, n};
  boxes = x_cast(op->b, boxes, HONE_F32);
  scores = x_cast(op->b, scores, HONE_F32);
  boxes = x_reshape(op->b, boxes, all, 3);
  scores = x_reshape(op->b, scores, one, 3);
  struct value *y = x_op(op->b, OP_NonMaxSuppression,
                         VALUES(boxes, scores, x_scalar(op->b, HONE_I64, (double)n),
                                x_scalar(op->b, HONE_F32, overlap)));
  return pt_result(op, 0, x_gather(op->b, y, x_scalar(op->b, HONE_I64, 2), 1));
}

hone_status build_deform_conv(struct pt_op *op) {
  static const char *const names[] = {"stride_h", "stride_w",   "pad_h",
                                      "pad_w",    "dilation_h", "dilation_w"};
  struct value *x, *weight, *offset, *mask, *bias;
  int64_t n[6], groups, offset_groups, use_mask;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "weight", &weight));
  TRY(pt_need(op, "offset", &offset));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_need(op, "bias", &bias));
  for (size_t i = 0; i < COUNT(names); i++) TRY(pt_int(op, names[i], i / 2 != 1, &n[i]));
  TRY(pt_int(op, "groups", 1, &groups));
  TRY(pt_int(op, "offset_groups", 1, &offset_groups));
  TRY(pt_int(op, "use_mask", 0, &use_mask));
  const int64_t pads[] = {n[2], n[3], n[2], n[3]};
  struct value *y = x_args(
      op->b, OP_DeformConv, VALUES(x, weight, offset, bias, use_mask ? mask : NULL),
      ARGS(INTS_ARG("strides", n, 2), INTS_ARG("pads", pads, 4), INTS_ARG("dilations", n + 4, 2),
           INT_ARG("group", groups), INT_ARG("offset_group", offset_groups)));
  return pt_result(op, 0, y);
}
