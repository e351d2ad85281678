/** Renders Markdown as nodes. HTML is text, and so are links other than http, https or a path. */
import type { ComponentChildren } from 'preact';
import { shownText } from './shown-text.tsx';

const inline =
  /\\([\\`*_{}[\]()#+.!|~<>-])|`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|~~([^~]+)~~|!?\[([^[\]]*)\]\(([^()\s]*)\)|<(https?:[^\s<>]+)>/g;

const isLink = (address: string): boolean => /^(?:https?:\/\/[^\s\\/]|\/(?![/\\])|#)/i.test(address);

const linked = (title: string, address: string): ComponentChildren =>
  isLink(address) ? (
    <a href={address} rel="noreferrer">
      {shownText(title === '' ? address : title)}
    </a>
  ) : (
    shownText(`${title} (${address})`)
  );

const inLine = (text: string): ComponentChildren[] => {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const found of text.matchAll(inline)) {
    const [whole, escaped, code, strong, soft, struck, title, address, bare] = found;
    pieces.push(shownText(text.slice(at, found.index)));
    at = found.index + whole.length;
    if (escaped !== undefined) pieces.push(escaped);
    else if (code !== undefined) pieces.push(<code>{shownText(code)}</code>);
    else if (strong !== undefined) pieces.push(<strong>{shownText(strong)}</strong>);
    else if (soft !== undefined) pieces.push(<em>{shownText(soft)}</em>);
    else if (struck !== undefined) pieces.push(<s>{shownText(struck)}</s>);
    else pieces.push(linked(title ?? '', address ?? bare ?? ''));
  }
  pieces.push(shownText(text.slice(at)));
  return pieces;
};

const bullet = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) +/;
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim());

/** Returns the consecutive lines from `at` that match. */
const whileHolds = (lines: readonly string[], at: number, holds: (line: string) => boolean): readonly string[] => {
  const end = lines.findIndex((line, index) => index >= at && !holds(line));
  return lines.slice(at, end === -1 ? undefined : end);
};

interface Block {
  readonly node: ComponentChildren;
  readonly lines: number;
}

const codeBlockOf = (lines: readonly string[], at: number): Block | undefined => {
  if (!/^ {0,3}```/.test(lines[at] ?? '')) return undefined;
  const code = whileHolds(lines, at + 1, (line) => !/^ {0,3}```/.test(line));
  return { node: <pre class="body">{shownText(code.join('\n'), { lines: true })}</pre>, lines: code.length + 2 };
};

const listOf = (lines: readonly string[], at: number): Block | undefined => {
  if (!bullet.test(lines[at] ?? '')) return undefined;
  const own = whileHolds(lines, at, (line) => bullet.test(line) || /^ {2,}\S/.test(line));
  const items: string[][] = [];
  for (const line of own)
    if (bullet.test(line)) items.push([line.replace(bullet, '')]);
    else items.at(-1)?.push(line.replace(/^ {2,4}/, ''));
  const content = items.map(([first = '', ...rest], index) => (
    <li key={index}>
      {inLine(first)}
      {rest.length === 0 ? null : blocksOf(rest)}
    </li>
  ));
  return { node: /^ *\d/.test(lines[at] ?? '') ? <ol>{content}</ol> : <ul>{content}</ul>, lines: own.length };
};

/** Whether a line separates the header of a table from its rows */
const isTableDelimiter = (line: string): boolean => line.includes('-') && /^[ |:-]+$/.test(line);

const tableOf = (lines: readonly string[], at: number): Block | undefined => {
  if (!(lines[at] ?? '').includes('|') || !isTableDelimiter(lines[at + 1] ?? '')) return undefined;
  const rows = whileHolds(lines, at + 2, (line) => line.includes('|'));
  const node = (
    <table class="figures">
      <thead>
        <tr>
          {cellsOf(lines[at] ?? '').map((cell, index) => (
            <th key={index} scope="col">
              {inLine(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {cellsOf(row).map((cell, column) => (
              <td key={column}>{inLine(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return { node, lines: rows.length + 2 };
};

const quoteOf = (lines: readonly string[], at: number): Block | undefined => {
  if (!/^ {0,3}>/.test(lines[at] ?? '')) return undefined;
  const own = whileHolds(lines, at, (line) => /^ {0,3}>/.test(line));
  return {
    node: <blockquote>{blocksOf(own.map((line) => line.replace(/^ {0,3}> ?/, '')))}</blockquote>,
    lines: own.length,
  };
};

const headingOf = (lines: readonly string[], at: number): Block | undefined => {
  const found = /^ {0,3}(#{1,6}) +(.+)/.exec(lines[at] ?? '');
  if (found === null) return undefined;
  // All headings have the same rank so that no rank is skipped: the heading above a text is that of its panel.
  return {
    node: <h3 class={`rank-${found[1]?.length}`}>{inLine((found[2] ?? '').replace(/ #+ *$/, ''))}</h3>,
    lines: 1,
  };
};

const ruleOf = (lines: readonly string[], at: number): Block | undefined =>
  /^ {0,3}(?:---|\*\*\*|___)[-*_ ]*$/.test(lines[at] ?? '') ? { node: <hr />, lines: 1 } : undefined;

const kinds = [codeBlockOf, ruleOf, headingOf, quoteOf, listOf, tableOf];

const beginsBlock = (lines: readonly string[], at: number): boolean =>
  kinds.some((kind) => kind(lines, at) !== undefined);

const paragraphOf = (lines: readonly string[], at: number): Block => {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? '').trim() !== '' && !beginsBlock(lines.slice(end, end + 2), 0)) end++;
  return { node: <p>{inLine(lines.slice(at, end).join(' '))}</p>, lines: end - at };
};

const blocksOf = (lines: readonly string[]): ComponentChildren[] => {
  const nodes: ComponentChildren[] = [];
  let at = 0;
  while (at < lines.length) {
    if ((lines[at] ?? '').trim() === '') {
      at++;
      continue;
    }
    const found = kinds.reduce<Block | undefined>((block, kind) => block ?? kind(lines, at), undefined);
    const block = found ?? paragraphOf(lines, at);
    nodes.push(block.node);
    at += block.lines;
  }
  return nodes;
};

export const Markdown = ({ text }: { readonly text: string }) => (
  <div class="markdown">{blocksOf(text.replaceAll('\r\n', '\n').split('\n'))}</div>
);
