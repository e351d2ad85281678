/** Errors: groups by last occurrence, and a side panel */

import { useEffect } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { Badge } from '../../components/badge.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { TimeCell } from '../../frame/time-cell.tsx';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { type ErrorGroup, errorsCall } from './calls.ts';
import { ErrorPanel } from './error-panel.tsx';

const pagedErrors = new PagedList(errorsCall, ({ items }) => items);

const statuses = ['unresolved', 'resolved', 'ignored'] as const;
const sortOptions = [
  ['-lastSeen', 'Last seen'],
  ['-firstSeen', 'First seen'],
  ['-count', 'Events'],
  ['-users', 'Users'],
] as const;

const openError = (errorId: string): void => setParams({ error: errorId }, { replace: readParam('error') !== '' });

const renderCells = (group: ErrorGroup) => [
  <Badge key="status" tone={group.status === 'unresolved' ? 'critical' : 'neutral'}>
    {group.isNew ? 'new' : group.status}
  </Badge>,
  <bdi key="type">
    <b>{renderText(group.type ?? 'Error')}</b> {renderText(group.message)}
  </bdi>,
  String(group.count),
  typeof group.users === 'number' ? String(group.users) : '',
  <Sparkline key="trend" values={group.trend.counts} />,
  <bdi key="services">{renderText(group.services.join(', '))}</bdi>,
  <TimeCell key="last" ms={Date.parse(group.lastSeen)} />,
];

const ErrorTable = () => (
  <ListResult
    list={pagedErrors}
    emptyText="No errors in this range."
    label="Errors"
    class="errors"
    columns={['Status', 'Error', 'Events', 'Users', 'Trend', 'Services', 'Last seen']}
    toKey={({ id }) => id}
    toCells={renderCells}
    toClass={({ isNew }) => (isNew ? 'level-error' : '')}
    openKey={readParam('error')}
    onOpen={openError}
  />
);

const FilterSelect = ({
  name,
  label,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, title: string])[];
}) => (
  <label>
    {label}{' '}
    <select value={readParam(name)} onChange={({ currentTarget }) => setParams({ [name]: currentTarget.value })}>
      {options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const Errors = () => {
  const { from, to } = timeRange.value;
  const [search, service] = [readParam('search'), readParam('service')];
  const [sort] = sortOptions.find(([sortKey]) => sortKey === readParam('sort')) ?? sortOptions[0];
  const status = statuses.find((statusName) => statusName === readParam('status'));
  useEffect(() => {
    const filter = { ...(status === undefined ? {} : { status }), ...(service === '' ? {} : { service }) };
    pagedErrors.load({ query: { from, to, search, sort, limit: 100, ...projectScope.value, ...filter } });
    return () => pagedErrors.cancel();
  }, [from, to, search, sort, service, status, projectScope.value, refreshCount.value]);
  useEscape(() => {
    if (readParam('error') !== '') openError('');
  });
  const { error } = pagedErrors.first.state.value;
  const openErrorId = readParam('error');
  return (
    <div class="logs">
      <h1 class="sr-only">Errors</h1>
      <div class="toolbar">
        <Search
          key={search}
          label="Search errors"
          placeholder="Search by type, message or culprit"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => setParams({ search: text.trim() })}
        />
        <FilterSelect
          name="status"
          label="Status"
          options={[['', 'all'], ...statuses.map((statusName) => [statusName, statusName] as const)]}
        />
        <FilterSelect
          name="sort"
          label="Sort by"
          options={sortOptions.map(([value, title], index) => [index === 0 ? '' : value, title])}
        />
        {service === '' ? null : (
          <button type="button" class="plain" onClick={() => setParams({ service: '' })}>
            service: {renderText(service)} ✕<span class="sr-only"> clear filter</span>
          </button>
        )}
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <div class={openErrorId === '' ? 'list' : 'list with-record'}>
        <ErrorTable />
        {openErrorId === '' ? null : <ErrorPanel key={openErrorId} id={openErrorId} onClose={() => openError('')} />}
      </div>
      <ErrorMessage error={pagedErrors.loadMoreError.value} />
      <Freshness queryState={pagedErrors.first.state.value} />
    </div>
  );
};
