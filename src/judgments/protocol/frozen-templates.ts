/**
 * The template digests of the kinds that existed before each kind had its own digest. Stored keys contain them, so they
 * change only with a deliberate change of the keys (docs/decisions/2026-11-22-one-identity-per-judgment-kind.md). Each
 * digest covers all kinds that share it: changing one prompt changes the keys of all. New kinds never use them.
 */

/** Shared by `rubric`, `citations` and `outcome`. */
export const READER_TEMPLATE = 'b41fb916b8754425b869bb4ad8c4c5aca4aa5a6294e52ba22895757d3b818b26';

/** The digest of `execution`, from the time when `execution` and `equivalence` shared it. */
export const SANDBOX_TEMPLATE = 'cd767e979acc06f7f5cabbe3e1039f85f74186f4de2041954f94a0b3e44a2c31';
