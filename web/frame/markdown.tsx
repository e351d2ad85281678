/** Renders Markdown. HTML is rendered as text, and so are links other than http, https, paths and fragments. */
import type { ComponentChildren } from 'preact';
import { renderText } from './display-text.tsx';

const inlinePattern =
  /\\([\\`*_{}[\]()#+.!|~<>-])|`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|~~([^~]+)~~|!?\[([^[\]]*)\]\(([^()\s]*)\)|<(https?:[^\s<>]+)>/g;

const isAllowedUrl = (address: string): boolean => /^(?:https?:\/\/[^\s\\/]|\/(?![/\\])|#)/i.test(address);

const renderLink = (title: string, address: string): ComponentChildren =>
  isAllowedUrl(address) ? (
    <a href={address} rel="noreferrer">
      {renderText(title === '' ? address : title)}
    </a>
  ) : (
    renderText(`${title} (${address})`)
  );

const renderInline = (text: string): ComponentChildren[] => {
  const nodes: ComponentChildren[] = [];
  let position = 0;
  for (const match of text.matchAll(inlinePattern)) {
    const [matchedText, escaped, code, strong, emphasizedText, strikethroughText, title, address, bareUrl] = match;
    nodes.push(renderText(text.slice(position, match.index)));
    position = match.index + matchedText.length;
    if (escaped !== undefined) nodes.push(escaped);
    else if (code !== undefined) nodes.push(<code>{renderText(code)}</code>);
    else if (strong !== undefined) nodes.push(<strong>{renderText(strong)}</strong>);
    else if (emphasizedText !== undefined) nodes.push(<em>{renderText(emphasizedText)}</em>);
    else if (strikethroughText !== undefined) nodes.push(<s>{renderText(strikethroughText)}</s>);
    else nodes.push(renderLink(title ?? '', address ?? bareUrl ?? ''));
  }
  nodes.push(renderText(text.slice(position)));
  return nodes;
};

const bullet = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) +/;
const splitCells = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim());

/** Returns the matching lines from `at` up to the first that does not match. */
const takeMatchingLines = (
  lines: readonly string[],
  at: number,
  matches: (line: string) => boolean,
): readonly string[] => {
  const end = lines.findIndex((line, index) => index >= at && !matches(line));
  return lines.slice(at, end === -1 ? undefined : end);
};

interface Block {
  readonly node: ComponentChildren;
  readonly lineCount: number;
}

const parseCodeBlock = (lines: readonly string[], at: number): Block | undefined => {
  if (!/^ {0,3}```/.test(lines[at] ?? '')) return undefined;
  const code = takeMatchingLines(lines, at + 1, (line) => !/^ {0,3}```/.test(line));
  return { node: <pre class="body">{renderText(code.join('\n'), { lines: true })}</pre>, lineCount: code.length + 2 };
};

const parseList = (lines: readonly string[], at: number): Block | undefined => {
  if (!bullet.test(lines[at] ?? '')) return undefined;
  const listLines = takeMatchingLines(lines, at, (line) => bullet.test(line) || /^ {2,}\S/.test(line));
  const items: string[][] = [];
  for (const line of listLines)
    if (bullet.test(line)) items.push([line.replace(bullet, '')]);
    else items.at(-1)?.push(line.replace(/^ {2,4}/, ''));
  const content = items.map(([first = '', ...rest], index) => (
    <li key={index}>
      {renderInline(first)}
      {rest.length === 0 ? null : renderBlocks(rest)}
    </li>
  ));
  return { node: /^ *\d/.test(lines[at] ?? '') ? <ol>{content}</ol> : <ul>{content}</ul>, lineCount: listLines.length };
};

/** Returns whether a line separates the header of a table from its rows. */
const isTableDelimiter = (line: string): boolean => line.includes('-') && /^[ |:-]+$/.test(line);

const parseTable = (lines: readonly string[], at: number): Block | undefined => {
  if (!(lines[at] ?? '').includes('|') || !isTableDelimiter(lines[at + 1] ?? '')) return undefined;
  const rows = takeMatchingLines(lines, at + 2, (line) => line.includes('|'));
  const node = (
    <table class="figures">
      <thead>
        <tr>
          {splitCells(lines[at] ?? '').map((cell, index) => (
            <th key={index} scope="col">
              {renderInline(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {splitCells(row).map((cell, column) => (
              <td key={column}>{renderInline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return { node, lineCount: rows.length + 2 };
};

const parseQuote = (lines: readonly string[], at: number): Block | undefined => {
  if (!/^ {0,3}>/.test(lines[at] ?? '')) return undefined;
  const quoteLines = takeMatchingLines(lines, at, (line) => /^ {0,3}>/.test(line));
  return {
    node: <blockquote>{renderBlocks(quoteLines.map((line) => line.replace(/^ {0,3}> ?/, '')))}</blockquote>,
    lineCount: quoteLines.length,
  };
};

const parseHeading = (lines: readonly string[], at: number): Block | undefined => {
  const found = /^ {0,3}(#{1,6}) +(.+)/.exec(lines[at] ?? '');
  if (found === null) return undefined;
  // All headings are `h3`, so that no level is skipped: the heading above the text is the `h2` of its panel.
  return {
    node: <h3 class={`rank-${found[1]?.length}`}>{renderInline((found[2] ?? '').replace(/ #+ *$/, ''))}</h3>,
    lineCount: 1,
  };
};

const parseRule = (lines: readonly string[], at: number): Block | undefined =>
  /^ {0,3}(?:---|\*\*\*|___)[-*_ ]*$/.test(lines[at] ?? '') ? { node: <hr />, lineCount: 1 } : undefined;

const parsers = [parseCodeBlock, parseRule, parseHeading, parseQuote, parseList, parseTable];

const beginsBlock = (lines: readonly string[], at: number): boolean =>
  parsers.some((kind) => kind(lines, at) !== undefined);

const parseParagraph = (lines: readonly string[], at: number): Block => {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? '').trim() !== '' && !beginsBlock(lines.slice(end, end + 2), 0)) end++;
  return { node: <p>{renderInline(lines.slice(at, end).join(' '))}</p>, lineCount: end - at };
};

const renderBlocks = (lines: readonly string[]): ComponentChildren[] => {
  const nodes: ComponentChildren[] = [];
  let lineIndex = 0;
  while (lineIndex < lines.length) {
    if ((lines[lineIndex] ?? '').trim() === '') {
      lineIndex++;
      continue;
    }
    const parsedBlock = parsers.reduce<Block | undefined>((block, kind) => block ?? kind(lines, lineIndex), undefined);
    const block = parsedBlock ?? parseParagraph(lines, lineIndex);
    nodes.push(block.node);
    lineIndex += block.lineCount;
  }
  return nodes;
};

export const Markdown = ({ text }: { readonly text: string }) => (
  <div class="markdown">{renderBlocks(text.replaceAll('\r\n', '\n').split('\n'))}</div>
);
