/** Converts an HTML page to text with headings. Omits elements that a browser would execute or hide. */

/** A line of text, or a heading with a level from 1 to 6 */
export interface Line {
  readonly level: number;
  readonly text: string;
}

/** Elements that are omitted with their content */
const skippedElements = new Set(
  ['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed', 'svg', 'math', 'head', 'nav'].concat([
    ...['select', 'textarea', 'button', 'form'],
  ]),
);
/** Elements whose content is text up to the end tag */
const rawElements = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noscript']);

const inlineElements = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

const namedEntities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  rarr: '→',
  larr: '←',
  times: '×',
  deg: '°',
  micro: 'µ',
};

const entityPattern = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g;

const decodeEntities = (text: string): string =>
  text.replace(entityPattern, (whole, decimal?: string, hexadecimal?: string, name = '') => {
    if (decimal === undefined && hexadecimal === undefined) return namedEntities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '';
  });

const tagNamePattern = /^\/?([a-zA-Z][a-zA-Z0-9-]{0,31})/;

/** Returns the index after a tag that begins at `from`; a `>` in quotes does not end the tag. */
const findTagEnd = (html: string, from: number): number => {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  return html.length;
};

class HtmlReader {
  readonly lines: Line[] = [];
  title = '';
  #text = '';
  #level = 0;
  #isPre = false;
  /** Name of the current omitted element */
  #skippedName: string | undefined;
  #depth = 0;
  readonly #html: string;
  /** Names of raw elements without a further end tag, which are not searched again */
  readonly #unclosedNames = new Set<string>();

  constructor(html: string) {
    this.#html = html;
  }

  read(): this {
    const html = this.#html;
    for (let at = 0; at < html.length; ) {
      const open = html.indexOf('<', at);
      this.#appendText(html.slice(at, open < 0 ? html.length : open));
      if (open < 0) break;
      at = this.#readMarkup(open);
    }
    this.#endLine();
    return this;
  }

  /** Reads markup that begins with `<`, and returns its end. */
  #readMarkup(open: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4);
      return end < 0 ? html.length : end + 3;
    }
    const next = html[open + 1] ?? '';
    if (next === '!' || next === '?') return findTagEnd(html, open + 1);
    const name = tagNamePattern.exec(html.slice(open + 1, open + 34))?.[1]?.toLowerCase();
    if (name === undefined) {
      this.#appendText('<');
      return open + 1;
    }
    const end = findTagEnd(html, open + 1);
    if (next === '/') this.#closeTag(name);
    else if (rawElements.has(name)) return this.#readRawElement(name, end);
    else this.#openTag(name, html[end - 2] === '/');
    return end;
  }

  #readRawElement(name: string, begin: number): number {
    const html = this.#html;
    const end = this.#findRawEnd(name, begin);
    if (name === 'title' && this.title === '')
      this.title = decodeEntities(html.slice(begin, end)).trim().replace(/\s+/g, ' ');
    return end >= html.length ? end : findTagEnd(html, end + 2);
  }

  #findRawEnd(name: string, begin: number): number {
    const html = this.#html;
    if (this.#unclosedNames.has(name)) return html.length;
    for (let at = html.indexOf('</', begin); at >= 0; at = html.indexOf('</', at + 2))
      if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
    this.#unclosedNames.add(name);
    return html.length;
  }

  #openTag(name: string, isClosed: boolean): void {
    if (this.#skippedName !== undefined) {
      if (name === this.#skippedName && !isClosed) this.#depth++;
      return;
    }
    if (skippedElements.has(name)) {
      if (isClosed) return;
      this.#skippedName = name;
      this.#depth = 1;
      return;
    }
    if (inlineElements.has(name)) return;
    this.#endLine();
    if (/^h[1-6]$/.test(name)) this.#level = Number(name[1]);
    if (name === 'pre') this.#isPre = true;
    if (name === 'li') this.#text = '- ';
  }

  #closeTag(name: string): void {
    if (this.#skippedName !== undefined) {
      if (name === this.#skippedName) this.#depth--;
      if (this.#depth <= 0) this.#skippedName = undefined;
      return;
    }
    if (inlineElements.has(name)) return;
    this.#endLine();
    if (name === 'pre') this.#isPre = false;
  }

  #appendText(text: string): void {
    if (this.#skippedName !== undefined || text === '') return;
    const plain = decodeEntities(text);
    if (!this.#isPre) {
      this.#text += plain.replace(/\s+/g, ' ');
      return;
    }
    const [first = '', ...others] = plain.split('\n');
    this.#text += first;
    for (const line of others) {
      this.#endLine();
      this.#text = line;
    }
  }

  #endLine(): void {
    const text = this.#isPre ? this.#text.trimEnd() : this.#text.trim();
    if (text !== '' && text !== '-') this.lines.push({ level: this.#level, text });
    this.#text = '';
    this.#level = 0;
  }
}

/** Parses HTML in linear time. */
export const readHtml = (html: string): { readonly title: string; readonly lines: readonly Line[] } =>
  new HtmlReader(html).read();
