/** Who is notified of the alerts of the draft rule: contact points of the rule, or those of the matching routes */
import { useEffect } from 'preact/hooks';
import { ApiQuery } from '../../../client/query.ts';
import { setParams, toArea } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { isPermitted } from '../../../frame/rights.ts';
import { useQuery } from '../../../frame/use-query.ts';
import { type RuleInput, type RulePreview, routingCall, routingTestCall, setRoutingCall } from '../calls.ts';
import {
  type AlertRouting,
  findRoute,
  findRuleTargets,
  type NotificationTargets,
  renameRuleRoute,
  setRuleTargets,
} from '../routing/changes.ts';
import { formatRoute } from '../routing/names.ts';
import { formatTargets, readTargetsParam, TargetFields, useTargetNames } from '../routing/target-fields.tsx';
import { preview, withDefaultName } from './draft.ts';

export const getAlertName = (rule: RuleInput): string => rule.alertName ?? withDefaultName(rule).name;

const changeDraftTargets = (targets: NotificationTargets): void =>
  setParams({ notify: JSON.stringify(targets) }, { replace: true });

/**
 * Returns the change of the routing that saving the rule needs: its route follows a new alert name, and has the selected
 * targets. It returns the routing itself if nothing changes.
 */
export const prepareRoutingChange = (
  previousAlertName: string | undefined,
  rule: RuleInput,
): ((routing: AlertRouting) => AlertRouting) => {
  const alertName = getAlertName(rule);
  const targets = readTargetsParam();
  return (routing) => {
    const renamed =
      previousAlertName === undefined || previousAlertName === alertName
        ? routing
        : renameRuleRoute(routing, previousAlertName, alertName);
    return targets === undefined ? renamed : setRuleTargets(renamed, alertName, targets, alertName);
  };
};

const getHighestSeverity = ({ condition }: RuleInput): string =>
  condition.kind === 'threshold'
    ? (condition.thresholds.at(-1)?.severity ?? 'warning')
    : (condition.severity ?? 'warning');

/** Returns the labels for routing: those of the first previewed alert and of the rule, except templates, which only an evaluation expands. */
const buildAlertLabels = (rule: RuleInput, rulePreview: RulePreview | undefined): Readonly<Record<string, string>> => ({
  ...rulePreview?.groups[0]?.labels,
  ...Object.fromEntries(Object.entries(rule.labels ?? {}).filter(([, value]) => !value.includes('{{'))),
  alertname: getAlertName(rule),
  severity: rulePreview?.groups[0]?.severity ?? getHighestSeverity(rule),
});

const routingTest = new ApiQuery(routingTestCall);

/** Routes that the alerts would take with the draft, and what each notifies. */
const MatchingRoutes = ({ rule, routing }: { readonly rule: RuleInput; readonly routing: AlertRouting }) => {
  const names = useTargetNames();
  const body = { labels: buildAlertLabels(rule, preview.state.value.response), routing };
  useEffect(() => {
    routingTest.run({ body } as never);
    return () => routingTest.cancel();
  }, [JSON.stringify(body)]);
  const { response, error } = routingTest.state.value;
  if (response === undefined) return <ErrorMessage error={error} />;
  const reached = response.receivers.map(({ name, routeId, mutedBy }) => {
    const { channelIds = [], escalationPolicyId } = routing.receivers.find((receiver) => receiver.name === name) ?? {};
    return { name, routeId, mutedBy, targets: { channelIds, escalationPolicyId } };
  });
  const isSilent = reached.every(
    ({ targets }) => targets.channelIds.length === 0 && targets.escalationPolicyId === undefined,
  );
  return (
    <div role="status">
      <p>Will notify</p>
      <ul class="receivers">
        {reached.map(({ name, routeId, mutedBy, targets }) => {
          const route = findRoute(routing, routeId);
          return (
            <li key={routeId}>
              Route{' '}
              <b>{routeId === '0' ? 'Default route' : renderText(route === undefined ? name : formatRoute(route))}</b> →{' '}
              {renderText(formatTargets(targets, names))}
              {mutedBy === null ? '' : renderText(`, muted now: ${mutedBy}`)}
            </li>
          );
        })}
      </ul>
      {isSilent ? (
        <p class="text-warn">Nobody is notified of this alert. Select a contact point, or change the routing.</p>
      ) : null}
    </div>
  );
};

/** Section of the rule form that selects who is notified. */
export const NotifyFields = ({
  rule,
  previousAlertName,
}: {
  readonly rule: RuleInput;
  /** Alert name of the stored rule; `undefined` for a new rule */
  readonly previousAlertName: string | undefined;
}) => {
  const { response: routing, error } = useQuery(routingCall, {});
  if (routing === undefined) return <ErrorMessage error={error} />;
  const changedRouting = prepareRoutingChange(previousAlertName, rule)(routing);
  const targets = readTargetsParam() ?? findRuleTargets(changedRouting, getAlertName(rule)) ?? { channelIds: [] };
  return (
    <>
      <h2>Contact points</h2>
      {isPermitted(setRoutingCall) ? (
        <>
          <p class="hint">
            Select contact points for this rule only. Without a selection, the routing decides by the labels of the
            alert.
          </p>
          <TargetFields targets={targets} onChange={changeDraftTargets} />
        </>
      ) : null}
      {isPermitted(routingTestCall) ? <MatchingRoutes rule={rule} routing={changedRouting} /> : null}
      <p class="links">
        <Link url={toArea('/alerts/routing')}>View routing</Link>
      </p>
    </>
  );
};
