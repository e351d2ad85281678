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

const Step = ({ step, isFirst }: { readonly step: NextStep; readonly isFirst: boolean }) => {
  const kind = isFirst ? 'primary' : 'secondary';
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

export const EmptyList = ({
  title,
  hint = '',
  children,
}: {
  /** Why the list is empty, as a sentence */
  readonly title: ComponentChildren;
  /** Reason from the API */
  readonly hint?: string;
  /** Further next steps */
  readonly children?: ComponentChildren;
}) => {
  const { purpose, next } = emptyViews[path.value] ?? defaultEmptyView;
  const filters = filterParams.filter((name) => readParam(name) !== '');
  return (
    <EmptyState
      icon={Inbox}
      title={title}
      actions={
        <>
          {filters.length === 0 ? null : (
            <Button kind="primary" onClick={() => setParams(Object.fromEntries(filters.map((name) => [name, ''])))}>
              Clear filters
            </Button>
          )}
          {next.map((step, index) => (
            <Step key={JSON.stringify(step)} step={step} isFirst={index === 0 && filters.length === 0} />
          ))}
          {children}
        </>
      }
    >
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
