#undef PAIR
#undef GROUP
#undef GROUPS_
#undef BLOCKS_
#undef LAST_
#undef SIGN_
#undef LARGEST_
#undef SUMS_ARE_FLOATS_
