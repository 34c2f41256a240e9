import { hashTable, lookUp } from './hash-table.ts';
import { hashWord } from './token-hash.ts';

/** English function words: they carry no content and are left out of coverage and of token counts. */
const WORDS =
  'a an the this that these those and or but nor so yet if then than as of at by for from in into on onto to with within about over under between ' +
  'through during per via is am are was were be been being do does did done doing have has had having will would shall should can could may might must ' +
  'i me my mine we us our ours you your yours he him his she her hers it its they them their theirs who whom whose which what when where why how ' +
  'there here not no also just very too such same other another each every both any some all more most own only even however therefore thus while ' +
  'because since until although though upon out up down off again further once ' +
  "i'm it's he's she's that's there's we're you're they're i've we've they've i'd i'll don't doesn't didn't isn't aren't wasn't weren't can't won't cannot";

/** Keys are unstemmed hashes. */
const STOP_WORDS = hashTable(WORDS.split(' ').map((word) => [hashWord(word), 1] as const));

export const LONGEST_STOP_WORD = 9;

export function isStopWord(hash: number): boolean {
  return lookUp(STOP_WORDS, hash) !== 0;
}
