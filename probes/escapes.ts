/** Decodes escapes of single characters in texts of any format, with the position of each character. */

/** A text whose characters have positions in an original text */
export interface MappedText {
  readonly text: string;
  /** For each character, where its source begins and ends; undefined if the text is the original */
  readonly sources: { readonly from: Uint32Array; readonly to: Uint32Array } | undefined;
}

const anyEscape = /[%\\&]/;

const escapedControls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v' };

/** Names of ISO 8859-1 from U+00A0, in lower case, because texts are compared in lower case */
const latin1Names = [
  ...'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn'.split(' '),
  ...'sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest'.split(' '),
  ...'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml'.split(' '),
  ...'eth ntilde ograve oacute ocirc otilde ouml times oslash ugrave uacute ucirc uuml yacute thorn szlig'.split(' '),
];

const asciiNames =
  'amp lt gt quot apos excl num dollar percnt lpar rpar ast plus comma period sol colon semi equals quest commat lsqb lbrack bsol rsqb rbrack hat lowbar underbar grave lcub lbrace verbar vert rcub rbrace hyphen tab newline divide yuml';
const asciiCharacters = '&<>"\'!#$%()*+,./:;=?@[[\\]]^__`{{||}}-\t\n÷ÿ';

/** Character references by name (HTML, "Named character references"): ASCII and ISO 8859-1 */
const namedCharacters: ReadonlyMap<string, string> = new Map([
  ...latin1Names.map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...asciiNames.split(' ').map((name, index) => [name, asciiCharacters.charAt(index)] as const),
]);

interface DecodedPart {
  readonly text: string;
  /** Length of its escape */
  readonly length: number;
}

/** Decodes bytes as UTF-8; bytes that are not UTF-8 as ISO 8859-1. */
const decodeBytes = (bytes: readonly number[], lengthOfByte: number): DecodedPart[] => {
  const parts: DecodedPart[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const count = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const text = Buffer.from(bytes.slice(at, at + count)).toString('utf8');
    const isUtf8 = !text.includes('\ufffd');
    const used = isUtf8 ? count : 1;
    parts.push({ text: isUtf8 ? text : String.fromCharCode(first), length: used * lengthOfByte });
    at += used;
  }
  return parts;
};

const fromCodePoint = (code: number): string => (code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd');

const one = (sequence: string, text: string): DecodedPart[] => [{ text, length: sequence.length }];

/** Each byte has the same number of characters, which begin with a mark. */
const decodeNumbers = (sequence: string, mark: string, radix: 8 | 16): DecodedPart[] => {
  const bytes = sequence.toLowerCase().split(mark).slice(1);
  return decodeBytes(
    bytes.map((digits) => Number.parseInt(digits, radix)),
    sequence.length / bytes.length,
  );
};

const fromHex = (sequence: string): DecodedPart[] =>
  one(sequence, fromCodePoint(Number.parseInt(sequence.replace(/[^0-9a-f]/gi, ''), 16)));

/** Bytes of addresses, Python and C in a run; escapes of JavaScript, JSON and CSS; character references of HTML */
const escapes =
  /(?<percent>(?:%[0-9a-f]{2})+)|(?<hex>(?:\\x[0-9a-f]{2})+)|(?<octal>(?:\\[0-3][0-7]{2})+)|(?<code>%u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\u[0-9a-f]{4}|&#x[0-9a-f]{1,6};?)|(?<plain>\\[\s\S])|(?<decimal>&#\d{1,7};?)|(?<named>&[a-z]{2,8}\d{0,2};)/gi;

/** Decodes a sequence by the group that matched it. */
const decoders: Readonly<Record<string, (sequence: string) => DecodedPart[]>> = {
  percent: (sequence) => decodeNumbers(sequence, '%', 16),
  hex: (sequence) => decodeNumbers(sequence, '\\x', 16),
  octal: (sequence) => decodeNumbers(sequence, '\\', 8),
  code: fromHex,
  plain: (sequence) => one(sequence, escapedControls[sequence.charAt(1)] ?? sequence.charAt(1)),
  decimal: (sequence) => one(sequence, fromCodePoint(Number.parseInt(sequence.slice(2), 10))),
  named: (sequence) => one(sequence, namedCharacters.get(sequence.slice(1, -1).toLowerCase()) ?? sequence),
};

const decodeMatch = ({ 0: sequence, groups = {} }: RegExpExecArray): DecodedPart[] => {
  const [name = ''] = Object.entries(groups).find(([, text]) => text !== undefined) ?? [];
  return decoders[name]?.(sequence) ?? one(sequence, sequence);
};

/** Decodes each escape of a text once; returns undefined if it has none. */
export const decodeEscapes = ({ text, sources }: MappedText): MappedText | undefined => {
  if (!anyEscape.test(text)) return undefined;
  const parts: string[] = [];
  const from = new Uint32Array(text.length);
  const to = new Uint32Array(text.length);
  let [length, end] = [0, 0];
  const add = (part: string, start: number, stop: number): void => {
    parts.push(part);
    for (let index = 0; index < part.length; index++) {
      from[length] = sources?.from[start] ?? start;
      to[length] = sources?.to[stop - 1] ?? stop;
      length++;
    }
  };
  const addPlain = (stop: number): void => {
    for (let at = end; at < stop; at++) add(text.charAt(at), at, at + 1);
  };
  for (const match of text.matchAll(escapes)) {
    addPlain(match.index);
    end = match.index;
    for (const part of decodeMatch(match)) {
      add(part.text, end, end + part.length);
      end += part.length;
    }
  }
  if (end === 0) return undefined;
  addPlain(text.length);
  return { text: parts.join(''), sources: { from: from.subarray(0, length), to: to.subarray(0, length) } };
};
