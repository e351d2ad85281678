/**
 * A passage from a search with its source. Its text is untrusted, so it is rendered as plain text, or as Markdown
 * without HTML.
 */
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { Link } from '../../frame/link.tsx';
import { Markdown } from '../../frame/markdown.tsx';
import type { Passage } from './calls.ts';

export type Source = Passage['source'];

export const sourceTitles: Readonly<Record<Source, string>> = {
  document: 'documents',
  incident: 'resolved incidents',
  rule: 'alert rules',
  'log-pattern': 'log patterns',
  handbook: 'OIQ handbook',
};

/** Returns the URL of the view that displays the source of a passage; `undefined` if there is none. */
const buildSourceUrl = ({ source, id }: Passage): string | undefined => {
  if (source === 'document') return toArea('/ask/documents', { open: id });
  if (source === 'incident') return toArea('/incidents', { incident: id });
  if (source === 'rule') return toArea('/alerts/rules', { rule: id });
  return source === 'log-pattern' ? toArea('/logs', { pattern: id }) : undefined;
};

export const PassageItem = ({
  passage,
  passageIndex,
}: {
  readonly passage: Passage;
  readonly passageIndex: number;
}) => {
  const { source, title, url, headings, text } = passage;
  const to = buildSourceUrl(passage);
  return (
    <li id={`passage-${passageIndex}`} tabIndex={-1}>
      <h3>{to === undefined ? renderText(title) : <Link url={to}>{renderText(title)}</Link>}</h3>
      <p class="soft">
        Source: {sourceTitles[source]}
        {headings.length === 0 ? '' : ', '}
        {renderText(headings.join(' › '))}
        {/^https?:\/\//i.test(url) ? (
          <>
            {'; '}
            <a href={url} rel="noreferrer">
              {renderText(url)}
            </a>
          </>
        ) : null}
      </p>
      {source === 'document' || source === 'handbook' ? (
        <Markdown text={text} />
      ) : (
        <p>{renderText(text, { lines: true })}</p>
      )}
    </li>
  );
};
