/** Cuts a document into passages: sections under their headings, of which long ones are several. */
import { type Line, readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';

export const formats = ['markdown', 'text', 'html'] as const;
export type Format = (typeof formats)[number];

/** A part of a document that is found, read and cited by itself. */
export interface Passage {
  /** From the outermost one, without the title where that is the first. */
  readonly headings: readonly string[];
  readonly text: string;
}

export interface ReadDocument {
  readonly title: string;
  readonly passages: readonly Passage[];
}

/** A longer section is several passages. */
const maxPassageLength = 2_000;
const maxHeadingLength = 200;

/** Where a text of more than `longest` characters is cut: after a paragraph, a line or a sentence in its second half, else where it is full. */
const cutOf = (text: string): number => {
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = text.lastIndexOf(mark, maxPassageLength - mark.length);
    if (at >= maxPassageLength / 2) return at + mark.length;
  }
  return maxPassageLength;
};

const piecesOf = (text: string): string[] => {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > maxPassageLength) {
    const cut = cutOf(rest.slice(0, maxPassageLength));
    pieces.push(rest.slice(0, cut).trim().toWellFormed());
    rest = rest.slice(cut).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
};

const shortened = (text: string): string => text.slice(0, maxHeadingLength).toWellFormed();

const readers: Readonly<Record<Format, (text: string) => { readonly title: string; readonly lines: readonly Line[] }>> =
  {
    markdown: readMarkdown,
    html: readHtml,
    text: (text) => ({ title: '', lines: text.split('\n').map((line) => ({ level: 0, text: line })) }),
  };

/** The title is the one that is given, else what the document calls itself, else its first words. Takes time in proportion to the text. */
export const readDocument = (content: string, format: Format, given = ''): ReadDocument => {
  // Controls say nothing, and some stores refuse them.
  const clean = content
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '');
  const { title: own, lines } = readers[format](clean);
  const passages: Passage[] = [];
  let open: (string | undefined)[] = [];
  let first = '';
  let text: string[] = [];
  const end = (): void => {
    const headings = open.flatMap((each) => (each === undefined || each === '' ? [] : [each]));
    const pieces = piecesOf(text.join('\n'));
    for (const piece of pieces) passages.push({ headings, text: piece });
    text = [];
  };
  for (const line of lines) {
    if (line.level === 0) {
      text.push(line.text);
      continue;
    }
    end();
    const heading = shortened(line.text);
    if (first === '' && line.level === 1) first = heading;
    open = [...Array.from({ length: line.level - 1 }, (_, index) => open[index]), heading];
  }
  end();
  const title = shortened(given || own || first || lines.find((line) => line.text.trim() !== '')?.text.trim() || '');
  const named = passages.map(({ headings, text: passageText }) => ({
    headings: headings[0] === title ? headings.slice(1) : headings,
    text: passageText,
  }));
  // Headings alone are something to find, too.
  if (named.length === 0 && lines.length > 0 && title !== '')
    return { title, passages: [{ headings: [], text: title }] };
  return { title, passages: named };
};
