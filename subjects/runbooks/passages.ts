/** Splits a document into passages: sections under their headings, of which long ones are split */
import { type Line, readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';

export const formats = ['markdown', 'text', 'html'] as const;
export type Format = (typeof formats)[number];

/** A part of a document that is found, read and cited individually */
export interface Passage {
  /** Headings from the outermost one, without the title if that is the first */
  readonly headings: readonly string[];
  readonly text: string;
}

export interface ReadDocument {
  readonly title: string;
  readonly passages: readonly Passage[];
}

/** Maximum length of a passage; a longer section is split */
const maxPassageLength = 2_000;
const maxHeadingLength = 200;

/**
 * Returns where a long text is split: after a paragraph, a line or a sentence in the second half of the limit,
 * otherwise at the limit.
 */
const findSplit = (text: string): number => {
  for (const separator of ['\n\n', '\n', '. ', ' ']) {
    const index = text.lastIndexOf(separator, maxPassageLength - separator.length);
    if (index >= maxPassageLength / 2) return index + separator.length;
  }
  return maxPassageLength;
};

const splitText = (text: string): string[] => {
  const parts: string[] = [];
  let remaining = text.trim();
  while (remaining.length > maxPassageLength) {
    const splitIndex = findSplit(remaining.slice(0, maxPassageLength));
    parts.push(remaining.slice(0, splitIndex).trim().toWellFormed());
    remaining = remaining.slice(splitIndex).trim();
  }
  return remaining === '' ? parts : [...parts, remaining];
};

const truncateHeading = (text: string): string => text.slice(0, maxHeadingLength).toWellFormed();

const readers: Readonly<Record<Format, (text: string) => { readonly title: string; readonly lines: readonly Line[] }>> =
  {
    markdown: readMarkdown,
    html: readHtml,
    text: (text) => ({ title: '', lines: text.split('\n').map((line) => ({ level: 0, text: line })) }),
  };

/**
 * Parses a document. The title is `givenTitle`, otherwise that of the document, otherwise its first line with text.
 * Takes linear time.
 */
export const readDocument = (content: string, format: Format, givenTitle = ''): ReadDocument => {
  // Control characters have no meaning, and some stores reject them.
  const clean = content
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '');
  const { title: documentTitle, lines } = readers[format](clean);
  const passages: Passage[] = [];
  let openHeadings: (string | undefined)[] = [];
  let firstHeading = '';
  let text: string[] = [];
  const endSection = (): void => {
    const headings = openHeadings.flatMap((openHeading) =>
      openHeading === undefined || openHeading === '' ? [] : [openHeading],
    );
    const parts = splitText(text.join('\n'));
    for (const part of parts) passages.push({ headings, text: part });
    text = [];
  };
  for (const line of lines) {
    if (line.level === 0) {
      text.push(line.text);
      continue;
    }
    endSection();
    const heading = truncateHeading(line.text);
    if (firstHeading === '' && line.level === 1) firstHeading = heading;
    openHeadings = [...Array.from({ length: line.level - 1 }, (_, index) => openHeadings[index]), heading];
  }
  endSection();
  const title = truncateHeading(
    givenTitle || documentTitle || firstHeading || lines.find((line) => line.text.trim() !== '')?.text.trim() || '',
  );
  const titledPassages = passages.map(({ headings, text: passageText }) => ({
    headings: headings[0] === title ? headings.slice(1) : headings,
    text: passageText,
  }));
  // A document with headings alone can also be found.
  if (titledPassages.length === 0 && lines.length > 0 && title !== '')
    return { title, passages: [{ headings: [], text: title }] };
  return { title, passages: titledPassages };
};
