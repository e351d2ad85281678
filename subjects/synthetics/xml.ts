/** Parses XML responses of targets to elements. No entities of documents are expanded, and nothing is fetched. */

export interface XmlElement {
  /** Name as written, possibly with a prefix */
  readonly name: string;
  /** Attributes by their names as written */
  readonly attributes: ReadonlyMap<string, string>;
  /** Elements, and texts between them */
  readonly children: (XmlElement | string)[];
}

/** Maximum number of elements within each other; the depth bounds the time for texts of elements. */
const maxDepth = 128;

const namedReferences: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const toCharacter = (code: number): string | undefined =>
  code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : undefined;

/** Replaces references of characters. Others remain as written. */
const decodeReferences = (text: string): string =>
  text.includes('&')
    ? text.replace(
        /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w{2,4}));/g,
        (reference, hex: string | undefined, decimal: string | undefined, name = '') => {
          const character =
            hex === undefined && decimal === undefined
              ? namedReferences[name]
              : toCharacter(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
          return character ?? reference;
        },
      )
    : text;

/** Parses `name="value"` pairs of a tag. */
const parseAttributes = (text: string): ReadonlyMap<string, string> => {
  const attributes = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const equals = text.indexOf('=', at);
    const value = text.slice(equals + 1, equals + 257).trimStart();
    const quote = value[0];
    if (equals < 0 || (quote !== '"' && quote !== "'")) break;
    const open = text.indexOf(quote, equals);
    const close = text.indexOf(quote, open + 1);
    if (close < 0) break;
    attributes.set(text.slice(at, equals).trim(), decodeReferences(text.slice(open + 1, close)));
    at = close + 1;
  }
  return attributes;
};

/** Returns the index of the `>` that ends a tag: those in quoted values do not. */
const findTagEnd = (text: string, start: number): number => {
  let quote = '';
  for (let index = start; index < text.length; index++) {
    const character = text[index] as string;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return index;
  }
  return -1;
};

/** Returns the index after a declaration of a document type, whose subset may have tags. */
const findDoctypeEnd = (text: string, start: number): number => {
  const subset = text.indexOf('[', start);
  const end = text.indexOf('>', start);
  if (subset < 0 || subset > end) return end;
  const close = text.indexOf(']', subset);
  return close < 0 ? -1 : text.indexOf('>', close);
};

/** Parts of markup that are not tag: their beginning, and what ends them */
const skippedMarkup = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;

class XmlParser {
  readonly #text: string;
  readonly #open: XmlElement[] = [{ name: '', attributes: new Map(), children: [] }];

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns a document without a name, whose child is the root element; undefined if the text is not well-formed. */
  parse(): XmlElement | undefined {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const tag = text.indexOf('<', at);
      this.#addText(decodeReferences(text.slice(at, tag < 0 ? text.length : tag)));
      if (tag < 0) break;
      at = this.#readMarkup(tag);
      if (at <= 0) return undefined;
    }
    const [document] = this.#open;
    const isWhole = this.#open.length === 1 && document?.children.some((child) => typeof child !== 'string');
    return isWhole === true ? document : undefined;
  }

  /** Returns the index after the markup; 0 if it is not well-formed. */
  #readMarkup(start: number): number {
    const text = this.#text;
    for (const [begin, end] of skippedMarkup)
      if (text.startsWith(begin, start)) return this.#findAfter(end, start + begin.length);
    if (text.startsWith('<![CDATA[', start)) {
      const after = this.#findAfter(']]>', start + 9);
      this.#addText(text.slice(start + 9, Math.max(start + 9, after - 3)));
      return after;
    }
    if (text.startsWith('<!', start)) return findDoctypeEnd(text, start) + 1;
    const end = findTagEnd(text, start + 1);
    return end < 0 || !this.#readTag(text.slice(start + 1, end)) ? 0 : end + 1;
  }

  #findAfter(end: string, from: number): number {
    const at = this.#text.indexOf(end, from);
    return at < 0 ? 0 : at + end.length;
  }

  #addText(text: string): void {
    if (text !== '') this.#open.at(-1)?.children.push(text);
  }

  /** Returns whether a tag is well-formed here. */
  #readTag(tag: string): boolean {
    if (tag.startsWith('/')) return this.#open.length > 1 && this.#open.pop()?.name === tag.slice(1).trim();
    const isEmpty = tag.endsWith('/');
    const content = isEmpty ? tag.slice(0, -1) : tag;
    const space = content.search(/\s/);
    const name = space < 0 ? content : content.slice(0, space);
    if (name === '' || this.#open.length > maxDepth) return false;
    const attributes = space < 0 ? new Map<string, string>() : parseAttributes(content.slice(space));
    const element: XmlElement = { name, attributes, children: [] };
    this.#open.at(-1)?.children.push(element);
    if (!isEmpty) this.#open.push(element);
    return true;
  }
}

/** Returns the document of an XML text; undefined if it is not well-formed. */
export const parseXml = (text: string): XmlElement | undefined => new XmlParser(text.replace(/^\uFEFF/, '')).parse();

/** Returns the text of an element and of those within it. */
export const getXmlText = (element: XmlElement): string => {
  let text = '';
  for (const child of element.children) text += typeof child === 'string' ? child : getXmlText(child);
  return text;
};
