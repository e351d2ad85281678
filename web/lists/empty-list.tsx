/** An empty list: why it is empty, what it is for, and its next steps */
import { Inbox } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Button, ButtonLink } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { path, readParam, setParams, toArea } from '../frame/address.ts';
import { areaDocs } from '../frame/area-docs.ts';
import { renderText } from '../frame/display-text.tsx';
import { defaultEmptyView, emptyViews, type NextStep } from './empty-views.ts';

/** Parameters of the address that filter lists */
const filterParams = ['search', 'status', 'service', 'assigneeId', 'state', 'hasNoData', 'kind'];
const longRange = 'now-7d';

const Step = ({ step, isPrimary }: { readonly step: NextStep; readonly isPrimary: boolean }) => {
  const kind = isPrimary ? 'primary' : 'secondary';
  if (step === 'widen')
    return readParam('from') === longRange ? null : (
      <Button kind={kind} onClick={() => setParams({ from: longRange, to: '' })}>
        Show the last 7 days
      </Button>
    );
  if ('form' in step)
    return readParam('open') !== '' ? null : (
      // The toolbar has the primary button for it.
      <Button onClick={() => setParams({ open: 'new' })}>{step.form}</Button>
    );
  const [title, url] = step;
  const { pathname, searchParams } = new URL(url, location.origin);
  return (
    <ButtonLink kind={kind} url={toArea(pathname, Object.fromEntries(searchParams))}>
      {title}
    </ButtonLink>
  );
};

/** Splits a text into its first sentence without the period, which is the heading, and the other sentences. */
const splitSentence = (text: string): readonly [heading: string, others: string] => {
  const end = text.indexOf('. ');
  return end === -1 ? [text.replace(/\.$/, ''), ''] : [text.slice(0, end), text.slice(end + 2)];
};

export const EmptyList = ({
  title,
  hint = '',
  children,
}: {
  /** Why the list is empty, as a sentence. Further sentences explain it. */
  readonly title: string;
  /** Reason from the API */
  readonly hint?: string;
  /** Further next steps */
  readonly children?: ComponentChildren;
}) => {
  const [heading, explanation] = splitSentence(title);
  const { purpose, next, hasPrimaryButton = false } = emptyViews[path.value] ?? defaultEmptyView;
  const filters = filterParams.filter((name) => readParam(name) !== '');
  return (
    <EmptyState
      icon={Inbox}
      title={heading}
      actions={
        <>
          {filters.length === 0 ? null : (
            <Button kind="primary" onClick={() => setParams(Object.fromEntries(filters.map((name) => [name, ''])))}>
              Clear filters
            </Button>
          )}
          {next.map((step, index) => (
            <Step
              key={JSON.stringify(step)}
              step={step}
              isPrimary={index === 0 && filters.length === 0 && !hasPrimaryButton}
            />
          ))}
          {children}
        </>
      }
    >
      {explanation === '' ? null : <p>{explanation}</p>}
      {purpose}{' '}
      {areaDocs.value === '' ? null : (
        <a href={`/docs/${areaDocs.value}`} target="_blank" rel="noreferrer">
          Read the documentation
        </a>
      )}
      {hint === '' ? null : <p>{renderText(hint)}</p>}
    </EmptyState>
  );
};
