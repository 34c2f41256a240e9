/**
 * Words before a full stop that do not end a sentence. Committed and versioned with the parser: the splitter's cuts
 * enter judgment keys.
 */

/** Never the end: titles, reference words, and abbreviations that always go on. Lower case, without the last stop. */
export const NEVER_FINAL: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof rev hon st mt ft gen col capt lt cmdr sgt maj adm gov sen rep pres ' +
    'e.g i.e cf vs viz approx ca c fig figs eq eqs sec ch vol vols ed eds pp p art para nr ' +
    'bzw z.b d.h u.a ggf vgl sog inkl ' +
    'p.ej sr sra srta dra ud uds ' +
    'm mme mlle ex'
  ).split(' '),
);

/** Not the end where a number follows: "No. 5", "Jan. 12". */
export const NOT_BEFORE_DIGIT: ReadonlySet<string> = new Set(
  'no nos num art op jan feb mar apr jun jul aug sep sept oct nov dec'.split(' '),
);

/** Month names after a day ordinal: "27. Mai 1937". Lower case. */
export const MONTHS_AFTER_ORDINAL: ReadonlySet<string> = new Set(
  (
    'januar jänner februar märz april mai juni juli august september oktober november dezember ' +
    'jan feb mär apr jun jul aug sep sept okt nov dez'
  ).split(' '),
);

/** Words that start a sentence far more often than they follow an initial or acronym: "…in the U.S. The treaty…". */
export const SENTENCE_STARTERS: ReadonlySet<string> = new Set(
  (
    'the a an it its this that these those he she they we you i his her their our there here in on at by for from to ' +
    'with as after before during since while when where although though because however but and or so if then thus ' +
    'also both each every some many most all no not one two three several such what who why how according more ' +
    'der die das es ein eine im in am nach el la los las un una en le les des'
  ).split(' '),
);
