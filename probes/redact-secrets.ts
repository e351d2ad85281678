/** Finds and redacts secrets in texts, in every encoding that texts may have, also nested and mixed. */
import { ellipsis } from '../subjects/synthetics/cut.ts';
import { decodeEscapes, type MappedText } from './escapes.ts';
import { minPrefixLength, secretForms, secretVariants } from './secret-forms.ts';

const mask = '********';
/** Maximum number of nested encodings, such as JSON in JSON in an address */
const maxLayers = 4;
/** Maximum length of the end of a text that is compared with beginnings of secrets */
const maxTailLength = 4096;
/** Maximum length of an escape that is cut */
const maxEscapeLength = 18;

/** Part of a text; `to` is exclusive. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A form of a secret, normalized, and its beginning that is sufficient to recognize it */
interface Form {
  readonly text: string;
  readonly beginning: string;
}

/** Lower case, and one character for those that encodings exchange: spaces and `+`, both alphabets of base64. */
const normalize = (text: string): string => {
  const lower = text.toLowerCase();
  const sameLength = lower.length === text.length ? lower : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return sameLength.replace(/[\s\u00a0+-]/g, ' ').replaceAll('_', '/');
};

const decodeLayers = (text: string): MappedText[] => {
  const layers: MappedText[] = [];
  for (
    let layer: MappedText | undefined = { text, sources: undefined };
    layer !== undefined && layers.length <= maxLayers;
    layer = decodeEscapes(layer)
  )
    layers.push(layer);
  return layers.map((layer) => ({ ...layer, text: normalize(layer.text) }));
};

/** A server may print only the beginning: half of a secret is recognized, but not a few characters of a long one. */
const beginningLength = (length: number): number => Math.min(length, Math.max(8, Math.ceil(length / 2)));

const toForm = (text: string): Form => ({ text, beginning: text.slice(0, beginningLength(text.length)) });

const listForms = (secret: string): Form[] => {
  // Escapes within the secret are decoded with those of the text.
  const decoded = decodeLayers(secret).map(({ text }) => text);
  const forms = new Set([...decoded, ...secretForms(secret).map(normalize)]);
  return [...forms].filter((text) => text === decoded[0] || text.length >= minPrefixLength).map(toForm);
};

/** Maximum number of secrets whose forms are cached: those of a long key take a tenth of a second. */
const maxCachedSecrets = 100;
const cachedForms = new Map<string, readonly Form[]>();

const getForms = (secret: string): readonly Form[] => {
  const known = cachedForms.get(secret);
  const forms = known ?? listForms(secret);
  // The least recently used ones are removed.
  cachedForms.delete(secret);
  cachedForms.set(secret, forms);
  for (const oldest of cachedForms.keys()) {
    if (cachedForms.size <= maxCachedSecrets) break;
    cachedForms.delete(oldest);
  }
  return forms;
};

const toRange = ({ sources }: MappedText, from: number, to: number): TextRange =>
  sources === undefined ? { from, to } : { from: sources.from[from] ?? 0, to: sources.to[to - 1] ?? 0 };

const mergeRanges = (ranges: readonly TextRange[]): TextRange[] => {
  const merged: TextRange[] = [];
  for (const range of ranges.toSorted((left, right) => left.from - right.from)) {
    const last = merged.at(-1);
    if (last === undefined || range.from > last.to) merged.push(range);
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
  }
  return merged;
};

const commonLength = (text: string, from: number, form: string): number => {
  let length = 0;
  while (length < form.length && text[from + length] === form[length]) length++;
  return length;
};

const cutEscape = /^(?:%(?:25){0,3}[0-9a-f]{0,2}|\\[\w{]{0,7}|&[#\w]{0,8}){1,6}$/i;

/** Returns where an escape may begin that the end of a text cuts. */
const findCutEscapes = (text: string): readonly number[] => {
  const start = Math.max(0, text.length - maxEscapeLength);
  const end = text.slice(start);
  return [...end.matchAll(/[%\\&]/g)].flatMap(({ index }) => (cutEscape.test(end.slice(index)) ? [start + index] : []));
};

/** Returns where the end of a layer is the beginning of a form, at most at a position. */
const findTailStart = (layer: MappedText, forms: readonly Form[], maxStart: number): number => {
  let tailStart = maxStart;
  for (const { text: form } of forms)
    for (let at = Math.max(0, layer.text.length - form.length); at < layer.text.length; at++) {
      const { from } = toRange(layer, at, at + 1);
      if (from >= tailStart) break;
      if (form[0] === layer.text[at] && form.startsWith(layer.text.slice(at))) tailStart = from;
    }
  return tailStart;
};

/** Returns where the end of a text is the beginning of a form. */
const findTail = (text: string, forms: readonly Form[]): TextRange | undefined => {
  const start = Math.max(0, text.length - maxTailLength);
  const window = text.slice(start);
  const notFound = window.length - minPrefixLength + 1;
  const layers = [window.length, ...findCutEscapes(window)].flatMap((end) => decodeLayers(window.slice(0, end)));
  const tailStart = layers.reduce((earliest, layer) => findTailStart(layer, forms, earliest), notFound);
  return tailStart === notFound ? undefined : { from: start + tailStart, to: text.length };
};

/** Finds secrets in texts. */
export class SecretFinder {
  readonly #secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#secrets = secretVariants(secrets);
  }

  /** Returns the parts of a text that contain a secret or at least half of one, in order and without overlaps. */
  find(text: string): readonly TextRange[] {
    if (text === '') return [];
    const forms = this.#secrets.flatMap(getForms);
    const ranges = decodeLayers(text).flatMap((layer) => forms.flatMap((form) => findForm(layer, form)));
    return mergeRanges(ranges);
  }

  /** Returns a text without the secrets, even if it was truncated within them. */
  redact(text: string): string {
    if (text === '') return text;
    const forms = this.#secrets.flatMap(getForms);
    return maskRanges(text, this.find(text))
      .split(ellipsis)
      .map((part) => {
        const tail = findTail(part, forms);
        return tail === undefined ? part : maskRanges(part, [tail]);
      })
      .join(ellipsis);
  }
}

function findForm(layer: MappedText, { text: form, beginning }: Form): TextRange[] {
  const secretRanges: TextRange[] = [];
  for (let at = layer.text.indexOf(beginning); at >= 0; at = layer.text.indexOf(beginning, at + 1)) {
    const length = commonLength(layer.text, at, form);
    secretRanges.push(toRange(layer, at, at + length));
  }
  return secretRanges;
}

function maskRanges(text: string, ranges: readonly TextRange[]): string {
  let redactedText = '';
  let end = 0;
  for (const { from, to } of ranges) {
    redactedText += text.slice(end, from) + mask;
    end = to;
  }
  return redactedText + text.slice(end);
}
