/** Requests to models: a list, and the page of one request */
import { useEffect } from 'preact/hooks';
import { formatQuantity } from '../../charts/values.ts';
import { PagedList } from '../../client/pages.ts';
import { Badge } from '../../components/badge.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { SelectFilters } from '../../lists/declared-list.tsx';
import { ListResult } from '../../lists/list-result.tsx';
import { type LlmRequestItem, requestsCall } from './calls.ts';
import { formatCost, formatTokens } from './figures.ts';
import { LlmRequestPage } from './request.tsx';

const pagedRequests = new PagedList(requestsCall, ({ items }) => items);

const sorts = [
  ['-time', 'Newest'],
  ['-cost', 'Highest cost'],
  ['-tokens', 'Most tokens'],
  ['-duration', 'Longest'],
] as const;

const filters = [{ name: 'sort', label: 'Sort by', options: sorts }] as const;

const renderCells = (item: LlmRequestItem) => [
  formatIsoTime(item.time).slice(0, 19),
  <bdi key="model">
    <b>{renderText(item.model || 'no model')}</b> <span class="soft">{renderText(item.operation)}</span>
  </bdi>,
  item.status === 'error' ? (
    <Badge key="status" tone="critical">
      {renderText(item.errorType ?? 'error')}
    </Badge>
  ) : (
    <span key="status" class="soft">
      ok
    </span>
  ),
  item.tokens === null ? 'unknown' : formatTokens(item.tokens.allInput),
  item.tokens === null ? '' : formatTokens(item.tokens.allOutput),
  <span key="cost" class={item.cost === null ? 'soft' : ''}>
    {formatCost(item)}
  </span>,
  formatQuantity(item.durationMs, 'ms'),
  <bdi key="service">{renderText(item.service)}</bdi>,
  <bdi key="user">{renderText(item.userId ?? '')}</bdi>,
];

const RequestList = () => {
  const { from, to } = timeRange.value;
  const search = readParam('search');
  const [sort] = sorts.find(([name]) => name === readParam('sort')) ?? sorts[0];
  useEffect(() => {
    pagedRequests.load({
      query: { from, to, sort, limit: 100, ...projectScope.value, ...(search === '' ? {} : { search }) },
    });
    return () => pagedRequests.cancel();
  }, [from, to, search, sort, projectScope.value, refreshCount.value]);
  const { error } = pagedRequests.first.state.value;
  return (
    <>
      <div class="toolbar">
        <Search
          key={search}
          label="Search requests"
          placeholder="model:gpt-4o status:error cost:>0.01"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => setParams({ search: text.trim() })}
        />
        <SelectFilters selectFilters={filters} />
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <ListResult
        list={pagedRequests}
        emptyContent="No requests to models in this range."
        label="Requests"
        class="llm-requests"
        columns={['Time', 'Model', 'Status', 'Input', 'Output', 'Cost', 'Duration', 'Service', 'User']}
        toKey={({ id }) => id}
        toCells={renderCells}
        toClass={({ status }) => (status === 'error' ? 'level-error' : '')}
        openKey={readParam('request')}
        onOpen={(id) => setParams({ request: id })}
      />
      <Freshness queryState={pagedRequests.first.state.value} />
    </>
  );
};

export const LlmRequestsPage = () => {
  const id = readParam('request');
  return id === '' ? <RequestList /> : <LlmRequestPage key={id} id={id} />;
};
LlmRequestsPage.requiredCall = requestsCall;
