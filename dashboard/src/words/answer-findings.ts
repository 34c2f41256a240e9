/** Sentences for findings about the conversion of a vendor's answer. */
import type { AnswerFindingReason } from '../../../src/citations/formats/names.ts';

export const ANSWER_FINDING_WORDS: Readonly<Record<AnswerFindingReason, string>> = {
  offset_reading: 'The offsets fit only in another unit, or with the last character included.',
  claim_moved: 'The claim is not at its offsets, but once elsewhere in its block.',
  claim_not_found: 'The offsets delimit no letter and no digit, so this citation is left out.',
  claims_joined: 'Two claims overlap and became one.',
  citation_without_place: 'The vendor does not say what the sources support: the whole text cites all of them.',
  citation_unread: 'A citation of an unknown kind, or without its fields.',
  cited_text_moved: 'The source contains the quoted text, but not at these offsets.',
  cited_text_not_in_source: 'The source does not contain the text that the vendor quotes.',
  cited_text_unchecked: 'The quotations are too long to search them all.',
  source_not_given: 'Neither the answer nor the request has the source of this citation; it counts as invented.',
  source_without_text: 'The answer carries an address without text: add its text to "sources".',
  source_id_changed: 'Characters that an id cannot hold are percent-encoded.',
  markup_replaced: 'The text contains a tag such as <answer>; its < became ‹.',
};
