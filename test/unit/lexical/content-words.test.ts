import { describe, expect, it } from 'vitest';
import { gatherEvidence, hasContentWord, indexSources } from '../../../src/lexical/index.ts';

describe('a text without a content word', () => {
  it.each([
    'The .',
    'the the the',
    'THE',
    'It is of the',
    'The. And it was.',
    'I',
    '1. the',
    '[3] the',
    '…',
    '😀',
    'der die das',
    'la de le',
    'el de los',
    'o que é',
    'il di che',
    'het van de',
    'och det',
    'i w na',
    've bir',
    'là của và',
    'yang di dan',
    'и в не это',
    'і та',
    'και το',
    'של את',
    'و في هذا',
    'و در به',
    'का यह है',
    'এবং',
    '的 了',
    '这是的',
    '因为',
    'の',
    'これは です。',
    'ではない',
    '그리고',
    '와',
    '그것은 이다',
    'และ',
    'ของที่',
    'ແລະ',
    'နှင့်',
    'និង',
    'The の, है',
  ])('%s', (text) => {
    expect(hasContentWord(text)).toBe(false);
    const source = `${text} ${text}`;
    expect(gatherEvidence(indexSources([{ text: source }]), text, [0]).support, 'although its source has it').toBe(0);
  });
});

describe('a text with a content word', () => {
  it.each([
    'It opened.',
    '1876',
    'It is 7.',
    'C',
    'π',
    'Yes',
    'War',
    'Hat',
    'die Brücke',
    'un pont',
    'мост',
    'γέφυρα',
    'גשר',
    'الجسر',
    'पुल',
    'সেতু',
    '橋',
    '和平',
    '他在北京',
    'かに',
    'さくら',
    'これは橋です。',
    '도로',
    '수도',
    '그것은 다리이다',
    'สะพาน',
    'ຂົວ',
  ])('%s', (text) => {
    expect(hasContentWord(text)).toBe(true);
  });
});
