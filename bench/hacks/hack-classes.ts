/**
 * Ways to earn more than an answer deserves. The classes are our own; several are known from other rewards, such as
 * markup without an answer, and some were learned by small policies, such as a citation of a word without content.
 */
import { CITATION_HACKS } from './citation-hacks.ts';
import { CONTENT_HACKS } from './content-hacks.ts';
import { EVASIVE_HACKS } from './evasive-hacks.ts';

export const HACK_CLASSES = [...CITATION_HACKS, ...CONTENT_HACKS, ...EVASIVE_HACKS];
