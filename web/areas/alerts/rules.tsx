/** Alert rules with the state of their last evaluation */
import { Plus } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { parsePairs } from '../../editors/lines.ts';
import { AddToDashboardLink } from '../../editors/put-on-dashboard.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { formatRuleName } from '../../frame/action-titles.ts';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectId } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { Search } from '../../frame/search.tsx';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { SelectFilters } from '../../lists/declared-list.tsx';
import { noDataFilter } from '../../lists/empty-results-filter.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { LoadedItem } from '../../lists/read-one.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { formatCondition } from './alert-format.ts';
import {
  createRuleCall,
  deleteRuleCall,
  exportRulesCall,
  importRulesCall,
  type Rule,
  replaceRuleCall,
  ruleCall,
  rulesCall,
  testRuleCall,
  updateRuleCall,
} from './calls.ts';
import { Evaluations } from './evaluations.tsx';
import { RuleInstances } from './groups.tsx';

const pagedRules = new PagedList(rulesCall, ({ items }) => items);

const openRule = (ruleId: string): void => setParams({ rule: ruleId }, { replace: readParam('rule') !== '' });

/** Returns the state as text; a rule that is disabled, fails or is not evaluated shows that instead. */
const describeState = ({ enabled, status, hasNoData }: Rule): string => {
  if (!enabled) return 'disabled';
  if (status === null) return 'pending first evaluation';
  if (status.error !== null) return 'fails';
  if (hasNoData) return 'no data';
  return status.stale ? `${status.state}, late` : status.state;
};

const isFiringOrFailing = ({ status }: Rule): boolean => status?.state === 'firing' || (status?.error ?? null) !== null;

const toStateTone = (rule: Rule): Tone =>
  isFiringOrFailing(rule) ? 'critical' : rule.hasNoData && rule.enabled ? 'warning' : 'neutral';

const renderCells = (rule: Rule) => [
  <Badge key="state" tone={toStateTone(rule)}>
    {describeState(rule)}
  </Badge>,
  <bdi key="name">{renderText(formatRuleName(rule.name))}</bdi>,
  String(rule.status?.firing ?? ''),
  <bdi key="condition">{renderText(formatCondition(rule))}</bdi>,
  rule.status === null ? '' : formatTime(Date.parse(rule.status.evaluatedAt)),
];

const DeleteRuleForm = ({ rule: { id, version, name } }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(deleteRuleCall));
  return (
    <RemovalForm
      action={action}
      labels={['Delete', `Delete “${name}” and resolve its alerts`]}
      remove={() => action.run({ params: { id }, ifMatch: version })}
      onRemoved={() => openRule('')}
    >
      {isPermitted(replaceRuleCall) ? <Link url={toArea('/alerts/rule', { rule: id })}>Edit</Link> : null}
    </RemovalForm>
  );
};

const EnableSwitch = ({ rule: { id, version, enabled } }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(updateRuleCall));
  const toggleEnabled = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: { enabled: !enabled }, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label={enabled ? 'Disable' : 'Enable'} kind="secondary" onSubmit={toggleEnabled}>
      {null}
    </ActionForm>
  );
};

/** Sends a firing and a resolved test notification through the current routing, to verify who is notified. */
const TestAlertForm = ({ rule: { id } }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(testRuleCall));
  const [message, setMessage] = useState('');
  const run = async (form: HTMLFormElement): Promise<void> => {
    const labels = parsePairs(String(new FormData(form).get('labels')).replaceAll(',', '\n'));
    const response = await action.run({ params: { id }, body: { labels } });
    setMessage(response === undefined ? '' : 'A test alert fired and resolved.');
  };
  return (
    <details>
      <summary>Send test alert</summary>
      <ActionForm action={action} label="Send" onSubmit={run} message={message}>
        <label>
          Labels <input name="labels" maxLength={4096} autocomplete="off" placeholder="service=cart" />
        </label>
      </ActionForm>
    </details>
  );
};

const Problems = ({ rule: { status, hasNoData } }: { readonly rule: Rule }) => (
  <>
    {status === null || status.error === null ? null : (
      <p class="problem">Last evaluation failed: {renderText(status.error)}</p>
    )}
    {hasNoData ? (
      <p class="problem">
        The query has returned no data so far, so the rule cannot fire. Check the names in its query.
      </p>
    ) : null}
  </>
);

const RulePanel = ({ rule }: { readonly rule: Rule }) => (
  <SidePanel label="Rule" title={rule.name} onClose={() => openRule('')}>
    <p>{renderText(rule.description ?? '')}</p>
    {rule.managedBy === null ? null : (
      <p>
        This rule is managed by{' '}
        {'sloId' in rule.managedBy ? (
          <Link url={toArea('/slos', { open: rule.managedBy.sloId })}>its SLO</Link>
        ) : (
          <Link url={toArea('/checks', { open: rule.managedBy.checkId })}>its synthetic check</Link>
        )}
        . It cannot be edited here.
      </p>
    )}
    <Problems rule={rule} />
    {rule.managedBy === null && isPermitted(deleteRuleCall) ? <DeleteRuleForm rule={rule} /> : null}
    {rule.managedBy === null && isPermitted(updateRuleCall) ? <EnableSwitch key={rule.version} rule={rule} /> : null}
    {isPermitted(testRuleCall) ? <TestAlertForm rule={rule} /> : null}
    {rule.condition.kind === 'threshold' ? (
      <p class="links">
        <AddToDashboardLink query={rule.condition.query} title={rule.name} />
      </p>
    ) : null}
    <Fields
      values={{
        state: describeState(rule),
        condition: formatCondition(rule),
        'evaluation interval': rule.interval,
        for: rule.for,
        'keep firing for': rule.keepFiringFor,
        delay: rule.delay,
        instances: rule.status?.groups,
        'firing alerts': rule.status?.firing,
        ...rule.annotations,
      }}
    />
    {Object.keys(rule.labels ?? {}).length === 0 ? null : <h3>Labels</h3>}
    <Fields values={rule.labels ?? {}} />
    <h3>Condition</h3>
    <ScrollRegion class="body" label="Condition">
      {renderText(JSON.stringify(rule.condition, null, 2), { lines: true })}
    </ScrollRegion>
    <RuleInstances ruleId={rule.id} />
    <h3>Last evaluations</h3>
    <p class="links">
      <Link url={toArea('/alerts/history', { ruleId: rule.id })}>Alert history</Link>
    </p>
    <Evaluations ruleId={rule.id} />
  </SidePanel>
);

const RuleTable = ({ openRuleId }: { readonly openRuleId: string }) => (
  <ListResult
    list={pagedRules}
    emptyText="No alert rules yet."
    label="Alert rules"
    class="rules"
    columns={['State', 'Name', 'Firing', 'Condition', 'Last evaluation']}
    toKey={({ id }) => id}
    toClass={(rule) => (isFiringOrFailing(rule) ? 'level-error' : '')}
    toCells={renderCells}
    openKey={openRuleId}
    onOpen={openRule}
  />
);

export const Rules = () => {
  const search = readParam('search');
  const hasNoData = readParam('hasNoData');
  useEffect(() => {
    pagedRules.load({ query: { limit: 100, search, hasNoData, projectId: projectId.value } });
    return () => pagedRules.cancel();
  }, [search, hasNoData, projectId.value, refreshCount.value]);
  useEscape(() => {
    if (readParam('rule') !== '') openRule('');
  });
  const openRuleId = readParam('rule');
  const rule = pagedRules.items.value.find(({ id }) => id === openRuleId);
  const { error } = pagedRules.first.state.value;
  return (
    <>
      <div class="toolbar">
        <Search
          key={search}
          label="Search rules"
          placeholder="Search by name"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => setParams({ search: text.trim(), rule: '' })}
        />
        <SelectFilters selectFilters={[noDataFilter]} />
        {isPermitted(importRulesCall) ? <Link url={toArea('/alerts/import')}>Import rules</Link> : null}
        <a href={exportRulesCall.path} download="rules.yaml">
          Export as Prometheus rules
        </a>
        {isPermitted(createRuleCall) ? (
          <ButtonLink kind="primary" icon={Plus} url={toArea('/alerts/rule')}>
            New alert rule
          </ButtonLink>
        ) : null}
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      <div class={openRuleId === '' ? 'list' : 'list with-record'}>
        <RuleTable openRuleId={openRuleId} />
        {openRuleId === '' || pagedRules.first.state.value.response === undefined ? null : rule === undefined ? (
          <LoadedItem
            key={`read ${openRuleId}`}
            call={ruleCall}
            id={openRuleId}
            label="Rule"
            onClose={() => openRule('')}
          >
            {(loadedRule) => <RulePanel rule={loadedRule} />}
          </LoadedItem>
        ) : (
          <RulePanel key={rule.id} rule={rule} />
        )}
      </div>
      <ErrorMessage error={pagedRules.loadMoreError.value} />
      <Freshness queryState={pagedRules.first.state.value} />
    </>
  );
};
