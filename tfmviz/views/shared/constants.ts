// What Python knows too. Each value stands in tfmviz/constants.json; tfmviz/constants.py says what it means.

import known from "../../constants.json" with { type: "json" };

export const { ADDRESS_CELL, ADDRESS_STAGE, ADDRESS_TURN, LONGEST_LOOK, LONGEST_MASK, SITE_PARTS } = known;
export const { LABEL_LENGTH, MASK, MASK_TOKEN, MOST_TYPED, NO_TEXT, TYPED_GAP, VISIBLE } = known;
export const { BASE, CLIP, FEWEST_TURNS, MAX_DISTANCE, MOST_TURNS, NORM_EPS, N_BUCKETS } = known;
export const { CODE_STEPS, SCALE_STEPS, TILE_MASKED, TILE_STEPS } = known;
export const { FOLLOWED_SITES, MOST_FOLLOWED, NEXT_WORDS, OFFERED, PART_CODES } = known;
export const { LARGEST_SETTING, MOST_BRANCHES, NEUTRAL, RIVALS } = known;
export const { FORMULA, LEAST_SHARE, LEFT_BY_ROUNDING, MOST_WRITTEN, NO_NUMBER, PER_CENT_EDGES, RAISED_DIGITS } = known;
export const { ATTENTION_KINDS, HEAD_ACROSS, INKS, LETTER_SIZE, MOST_SAID, VECTOR_NUMBERS } = known;
