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
  text.replace(entityPattern, (entity, decimal?: string, hexadecimal?: string, name = '') => {
    if (decimal === undefined && hexadecimal === undefined) return namedEntities[name] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '';
  });

const tagNamePattern = /^\/?([a-zA-Z][a-zA-Z0-9-]{0,31})/;

/** Returns the index after a tag that begins at `from`; a `>` in quotes does not end the tag. */
const findTagEnd = (html: string, from: number): number => {
  let quote = '';
  for (let index = from; index < html.length; index++) {
    const character = html[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return index + 1;
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
  #skippedDepth = 0;
  readonly #html: string;
  /** Names of raw elements without a further end tag, which are not searched again */
  readonly #unclosedNames = new Set<string>();

  constructor(html: string) {
    this.#html = html;
  }

  read(): this {
    const html = this.#html;
    for (let index = 0; index < html.length; ) {
      const tagStart = html.indexOf('<', index);
      this.#appendText(html.slice(index, tagStart < 0 ? html.length : tagStart));
      if (tagStart < 0) break;
      index = this.#readMarkup(tagStart);
    }
    this.#endLine();
    return this;
  }

  /** Reads markup that begins with `<`, and returns its end. */
  #readMarkup(tagStart: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', tagStart)) {
      const end = html.indexOf('-->', tagStart + 4);
      return end < 0 ? html.length : end + 3;
    }
    const next = html[tagStart + 1] ?? '';
    if (next === '!' || next === '?') return findTagEnd(html, tagStart + 1);
    const name = tagNamePattern.exec(html.slice(tagStart + 1, tagStart + 34))?.[1]?.toLowerCase();
    if (name === undefined) {
      this.#appendText('<');
      return tagStart + 1;
    }
    const end = findTagEnd(html, tagStart + 1);
    if (next === '/') this.#closeTag(name);
    else if (rawElements.has(name)) return this.#readRawElement(name, end);
    else this.#openTag(name, html[end - 2] === '/');
    return end;
  }

  #readRawElement(name: string, contentStart: number): number {
    const html = this.#html;
    const end = this.#findRawEnd(name, contentStart);
    if (name === 'title' && this.title === '')
      this.title = decodeEntities(html.slice(contentStart, end)).trim().replace(/\s+/g, ' ');
    return end >= html.length ? end : findTagEnd(html, end + 2);
  }

  #findRawEnd(name: string, contentStart: number): number {
    const html = this.#html;
    if (this.#unclosedNames.has(name)) return html.length;
    for (let index = html.indexOf('</', contentStart); index >= 0; index = html.indexOf('</', index + 2))
      if (html.slice(index + 2, index + 2 + name.length).toLowerCase() === name) return index;
    this.#unclosedNames.add(name);
    return html.length;
  }

  #openTag(name: string, isSelfClosing: boolean): void {
    if (this.#skippedName !== undefined) {
      if (name === this.#skippedName && !isSelfClosing) this.#skippedDepth++;
      return;
    }
    if (skippedElements.has(name)) {
      if (isSelfClosing) return;
      this.#skippedName = name;
      this.#skippedDepth = 1;
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
      if (name === this.#skippedName) this.#skippedDepth--;
      if (this.#skippedDepth <= 0) this.#skippedName = undefined;
      return;
    }
    if (inlineElements.has(name)) return;
    this.#endLine();
    if (name === 'pre') this.#isPre = false;
  }

  #appendText(text: string): void {
    if (this.#skippedName !== undefined || text === '') return;
    const decodedText = decodeEntities(text);
    if (!this.#isPre) {
      this.#text += decodedText.replace(/\s+/g, ' ');
      return;
    }
    const [first = '', ...followingLines] = decodedText.split('\n');
    this.#text += first;
    for (const line of followingLines) {
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
