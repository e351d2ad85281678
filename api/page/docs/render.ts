/** Renders Markdown of the documentation as pages. The Markdown is part of OIQ, so its content is trusted. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { FoundPassage } from '../../../subjects/runbooks/passage-index.ts';
import { createPage, type Page } from '../html.ts';

const readPart = (url: string): string => readFileSync(new URL(url, import.meta.url), 'utf8');
const style = `${readPart('../../../web/style/tokens.css')}\n${readPart('docs.css')}`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns the anchor of a heading, as GitHub forms it. */
const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/**
 * Returns the address of a link of a document: of a page, an image or another site; undefined if it points to a file that
 * is not served, such as code.
 */
const resolveLink = (file: string, link: string): string | undefined => {
  if (/^(?:https?:|mailto:|#|\/)/.test(link)) return link;
  const [target = '', anchor] = link.split('#');
  const path = posix.join(posix.dirname(file), target);
  if (path.startsWith('..')) return undefined;
  const address = path.replace(/(?:^|\/)README\.md$/, '').replace(/\.md$/, '');
  const page = address === '' ? '/docs' : `/docs/${address}`;
  return anchor === undefined ? page : `${page}#${anchor}`;
};

/** `hasAnchors`: whether headings can be linked. */
const renderMarkdown = (file: string, markdown: string, hasAnchors = true): string => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const anchor = toAnchor(text);
        const content = this.parser.parseInline(tokens);
        return hasAnchors
          ? `<h${depth} id="${anchor}">${content} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${depth}>\n`
          : `<h${depth}>${content}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const address = resolveLink(file, href);
        const content = this.parser.parseInline(tokens);
        return address === undefined ? content : `<a href="${escapeHtml(address)}">${content}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="${escapeHtml(resolveLink(file, href) ?? '')}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      table(token: Tokens.Table): string {
        const renderCells = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const rows = token.rows.map((row) => renderCells(row, 'td')).join('');
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead>${renderCells(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`;
      },
      // Addresses of images in `<picture>` are relative to the document.
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return text.replace(/(src(?:set)?)="([^"]+)"/g, (_, name: string, link: string) => {
          return `${name}="${escapeHtml(resolveLink(file, link) ?? link)}"`;
        });
      },
    },
  });
  return marked.parse(markdown, { async: false });
};

/** Returns the text of the first heading. */
const readTitle = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? 'Documentation';

const renderPage = ({
  title,
  content,
  contents,
  address,
  search = '',
}: {
  readonly title: string;
  readonly content: string;
  /** Markdown of the table of contents */
  readonly contents: string;
  readonly address: string;
  readonly search?: string;
}): Page => {
  const menu = renderMarkdown('README.md', contents.slice(contents.indexOf('\n## ') + 1), false).replace(
    `href="${address}"`,
    `href="${address}" aria-current="page"`,
  );
  return createPage({
    title: `${escapeHtml(title)} · OIQ documentation`,
    style,
    isForm: true,
    hasImages: true,
    markup: `<header><a class="home" href="/">OIQ</a><a href="/docs">Documentation</a><form action="/docs" role="search"><input type="search" name="search" value="${escapeHtml(search)}" placeholder="Search" aria-label="Search the documentation"></form><a href="/api/docs">API reference</a></header><details class="contents"><summary>Contents</summary><nav aria-label="Contents">${menu}</nav></details><main>${content}</main>`,
  });
};

/** `file` is the path in `docs/`, `contents` the Markdown of the table of contents. */
export const renderDocsPage = (file: string, markdown: string, contents: string): Page =>
  renderPage({
    title: readTitle(markdown),
    content: renderMarkdown(file, markdown),
    contents,
    address: resolveLink('README.md', file) ?? '/docs',
  });

export const renderMissingPage = (contents: string): Page =>
  renderPage({
    title: 'Page not found',
    content: '<h1>Page not found</h1><p>Select a page from the contents, or search.</p>',
    contents,
    address: '',
  });

/** Returns the beginning of the prose of a passage, without code, tables and marks of Markdown. */
const toExcerpt = (text: string): string =>
  text
    .split('```')
    .filter((_, index) => index % 2 === 0)
    .join(' ')
    .split('\n')
    .filter((line) => !line.startsWith('|'))
    .join(' ')
    .replace(/[*`]|^- /g, '')
    .trim()
    .slice(0, 240);

const renderFoundPassage = ({ origin, headings, text }: FoundPassage): string => {
  const heading = headings.at(-1);
  const address = heading === undefined ? origin.url : `${origin.url}#${toAnchor(heading)}`;
  const breadcrumb = [origin.title, ...headings].map(escapeHtml).join(' › ');
  return `<li><a href="${escapeHtml(address)}">${breadcrumb}</a><p>${escapeHtml(toExcerpt(text))}</p></li>`;
};

export const renderSearchPage = (search: string, passages: readonly FoundPassage[], contents: string): Page =>
  renderPage({
    title: `Search: ${search}`,
    content:
      passages.length === 0
        ? `<h1>No results for “${escapeHtml(search)}”</h1><p>Try other words, or select a page from the contents.</p>`
        : `<h1>Results for “${escapeHtml(search)}”</h1><ol class="results">${passages.map(renderFoundPassage).join('')}</ol>`,
    contents,
    address: '',
    search,
  });
