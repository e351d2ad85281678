/**
 * Huffman coding of header strings, RFC 7541 appendix B. The code is canonical (shorter codes first, within a length by
 * symbol), so the symbols of each length, in hexadecimal, define it completely.
 */
import { createCompressionError } from './errors.ts';

const symbolsByLength: readonly (readonly [bits: number, symbols: string])[] = [
  [5, '30-32 61 63 65 69 6f 73-74'],
  [6, '20 25 2d-2f 33-39 3d 41 5f 62 64 66-68 6c-6e 70 72 75'],
  [7, '3a 42-57 59 6a-6b 71 76-7a'],
  [8, '26 2a 2c 3b 58 5a'],
  [10, '21-22 28-29 3f'],
  [11, '27 2b 7c'],
  [12, '23 3e'],
  [13, '0 24 40 5b 5d 7e'],
  [14, '5e 7d'],
  [15, '3c 60 7b'],
  [19, '5c c3 d0'],
  [20, '80 82-83 a2 b8 c2 e0 e2'],
  [21, '99 a1 a7 ac b0-b1 b3 d1 d8-d9 e3 e5-e6'],
  [22, '81 84-86 88 92 9a 9c a0 a3-a4 a9-aa ad b2 b5 b9-bb bd-be c4 c6 e4 e8-e9'],
  [23, '1 87 89-8d 8f 93 95-98 9b 9d-9e a5-a6 a8 ae-af b4 b6-b7 bc bf c5 e7 ef'],
  [24, '9 8e 90-91 94 9f ab ce d7 e1 ec-ed'],
  [25, 'c7 cf ea-eb'],
  [26, 'c0-c1 c8-ca cd d2 d5 da-db ee f0 f2-f3 ff'],
  [27, 'cb-cc d3-d4 d6 dd-df f1 f4-f8 fa-fe'],
  [28, '2-8 b-c e-15 17-1f 7f dc f9'],
  [30, 'a d 16'],
];

const parseSymbols = (text: string): number[] =>
  text.split(' ').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map((end) => Number.parseInt(end, 16));
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });

/** A tree in one array: the children of node n are at 2n and 2n + 1; inner nodes by number, symbols as ~symbol. */
const tree = ((): Int16Array => {
  const nodes = new Int16Array(2 * 257);
  let count = 1;
  const addCode = (code: number, bits: number, symbol: number): void => {
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const child = 2 * node + ((code >>> bit) & 1);
      if (nodes[child] === 0) nodes[child] = count++;
      node = nodes[child] as number;
    }
    nodes[2 * node + (code & 1)] = ~symbol;
  };
  let code = 0;
  let previousBits = 0;
  for (const [bits, symbols] of symbolsByLength) {
    code <<= bits - previousBits;
    previousBits = bits;
    for (const symbol of parseSymbols(symbols)) addCode(code++, bits, symbol);
  }
  return nodes;
})();

/** Buffer for decoded bytes: the shortest code has 5 bits, and blocks are bounded. */
let outputBuffer = Buffer.allocUnsafeSlow(4096);

/**
 * Decodes bytes to text (Latin-1). Throws for an end-of-string symbol and for invalid padding, which must be a prefix
 * of that symbol.
 */
export const decodeHuffman = (bytes: Uint8Array, from: number, to: number): string => {
  const maxLength = Math.ceil(((to - from) * 8) / 5);
  if (outputBuffer.length < maxLength) outputBuffer = Buffer.allocUnsafeSlow(maxLength);
  let length = 0;
  let node = 0;
  /** Bits since the last symbol, and whether all of them were 1. */
  let paddingBits = 0;
  let isAllOnes = true;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    for (let bit = 7; bit >= 0; bit--) {
      const bitValue = (byte >>> bit) & 1;
      const next = tree[2 * node + bitValue] as number;
      if (next < 0) {
        outputBuffer[length++] = ~next;
        node = 0;
        paddingBits = 0;
        isAllOnes = true;
        continue;
      }
      // The only position of the tree without a child is the end-of-string symbol.
      if (next === 0) throw createCompressionError('a Huffman-coded string contains the end-of-string symbol');
      node = next;
      paddingBits++;
      isAllOnes &&= bitValue === 1;
    }
  }
  if (paddingBits > 7 || !isAllOnes) throw createCompressionError('a Huffman-coded string is padded wrongly');
  return outputBuffer.toString('latin1', 0, length);
};
