/** Parses Markdown to lines and headings. The text is preserved, except HTML that would be executed or hidden. */
import type { Line } from './html.ts';

const headingPattern = /^ {0,3}(#{1,6})(?![^ \t])/;
const underlinePattern = /^ {0,3}(=+|-+)[ \t]*$/;
const codeBlockPattern = /^ {0,3}(`{3,}|~{3,})/;
/** Line that an underline turns into a heading; not a list, quotation or table */
const paragraphPattern = /^ {0,3}[^\s>*+|-]/;

/** Markup that a browser would execute or hide, from start to end */
const hiddenMarkup = [
  ['<!--', '-->'],
  ['<script', '</script>'],
  ['<style', '</style>'],
] as const;

/** Removes closing hashes: `## Steps ##` becomes `Steps`. */
const removeClosingHashes = (text: string): string => {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === '#') end--;
  if (end === 0) return '';
  return end < trimmed.length && /\s/.test(trimmed[end - 1] ?? '') ? trimmed.slice(0, end).trim() : trimmed;
};

/** Removes the text between two markers, including the markers; without the second marker, removes the remainder. */
const removeBetween = (text: string, begin: string, end: string): string => {
  const lower = text.toLowerCase();
  let result = '';
  let position = 0;
  for (let from = lower.indexOf(begin); from >= 0; from = lower.indexOf(begin, position)) {
    result += text.slice(position, from);
    const to = lower.indexOf(end, from + begin.length);
    if (to < 0) return result;
    position = to + end.length;
  }
  return result + text.slice(position);
};

/** Returns the title of a YAML front matter, and the text after it. */
const splitFrontMatter = (text: string): { readonly title: string; readonly rest: string } => {
  if (!text.startsWith('---\n')) return { title: '', rest: text };
  const end = text.indexOf('\n---', 3);
  if (end < 0) return { title: '', rest: text };
  const title = text
    .slice(4, end)
    .split('\n')
    .find((line) => line.startsWith('title:'));
  const titleText = (title ?? '').slice('title:'.length).trim();
  const after = text.indexOf('\n', end + 1);
  return { title: titleText.replace(/^["']|["']$/g, ''), rest: after < 0 ? '' : text.slice(after + 1) };
};

/** Adds a line outside of code, or turns the previous line into a heading. */
const addLine = (lines: Line[], line: string): void => {
  const [marker = '', hashes] = headingPattern.exec(line) ?? [];
  const [, underline] = underlinePattern.exec(line) ?? [];
  const previousLine = lines.at(-1);
  if (hashes !== undefined) lines.push({ level: hashes.length, text: removeClosingHashes(line.slice(marker.length)) });
  else if (underline !== undefined && previousLine?.level === 0 && paragraphPattern.test(previousLine.text))
    lines[lines.length - 1] = { level: underline.startsWith('=') ? 1 : 2, text: previousLine.text.trim() };
  else lines.push({ level: 0, text: line });
};

/** Parses Markdown in linear time. */
export const readMarkdown = (text: string): { readonly title: string; readonly lines: readonly Line[] } => {
  const { title, rest } = splitFrontMatter(text);
  const visibleText = hiddenMarkup.reduce((remaining, [begin, end]) => removeBetween(remaining, begin, end), rest);
  const lines: Line[] = [];
  let codeBlockMarker = '';
  for (const line of visibleText.split('\n')) {
    const marker = codeBlockPattern.exec(line)?.[1];
    if (codeBlockMarker === '' && marker === undefined) addLine(lines, line);
    else lines.push({ level: 0, text: line });
    if (codeBlockMarker === '') codeBlockMarker = marker ?? '';
    else if (marker?.startsWith(codeBlockMarker)) codeBlockMarker = '';
  }
  return { title, lines };
};
