/** Side panel of an alert: why it fires, its history, its notifications, and silences */

import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { capitalize } from '../../frame/capitalize.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { useNames } from '../../frame/people.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { formatAlertValue } from './alert-format.ts';
import { AnnotationLinks, Muting, RelatedLinks } from './alert-links.tsx';
import { type Alert, acknowledgeCall, alertsCall, createSilenceCall, ruleCall } from './calls.ts';
import { Evaluations } from './evaluations.tsx';
import { NotifiedChannels } from './notifications.tsx';
import { SilenceFields } from './silence-span.tsx';

const AcknowledgeForm = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(acknowledgeCall));
  const acknowledge = async (form: HTMLFormElement): Promise<void> => {
    const note = String(new FormData(form).get('note'));
    if ((await action.run({ params: { id }, body: { note } })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Acknowledge" onSubmit={acknowledge}>
      <label>
        Note <input name="note" maxLength={2048} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

const SilenceForm = ({ labels }: { readonly labels: Alert['labels'] }) => {
  const [action] = useState(() => new Action(createSilenceCall));
  const [message, setMessage] = useState('');
  const createSilence = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const endsAt = new Date(Date.now() + Number(formData.get('hours')) * 3_600_000).toISOString();
    const matchers = Object.entries(labels).map(([name, value]) => ({ name, operator: '=' as const, value }));
    const silence = await action.run({ body: { matchers, endsAt, comment: String(formData.get('comment')) } });
    setMessage(silence === undefined ? '' : `Muted until ${formatIsoTime(endsAt)}.`);
    if (silence !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Silence" kind="secondary" onSubmit={createSilence} message={message}>
      <SilenceFields />
    </ActionForm>
  );
};

const AlertChart = lazyLoad(async () => (await import('./alert-chart.tsx')).AlertChart);
const ProbableCauses = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const stateTones: Readonly<Record<string, Tone>> = { firing: 'critical', pending: 'warning' };

const AlertState = ({ alert }: { readonly alert: Alert }) => {
  const { state, severity, startedAt, silencedBy, inhibitedBy } = alert;
  return (
    <p class="alert-state">
      <Badge tone={state === 'firing' && severity === 'warning' ? 'warning' : (stateTones[state] ?? 'ok')}>
        {capitalize(state)}
      </Badge>
      <SeverityBadge severity={severity} />
      {silencedBy.length + inhibitedBy.length === 0 ? null : <Badge tone="info">Muted</Badge>}
      {startedAt === null ? null : <span class="soft">since {formatIsoTime(startedAt)}</span>}
    </p>
  );
};

/** Time before an alert that its chart and its links show as well */
const contextMs = 30 * 60_000;

/** Start of the time that explains an alert. */
const getContextStart = ({ since, startedAt }: Alert): string => {
  const starts = [since, startedAt].flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  return new Date(Math.min(Date.now(), ...starts) - contextMs).toISOString();
};

/** Chart and links, which need the rule. */
const RuleContext = ({ alert, from }: { readonly alert: Alert; readonly from: string }) => {
  const { response: rule } = useQuery(ruleCall, { params: { id: alert.ruleId } });
  return (
    <>
      {rule === undefined ? null : <AlertChart alert={alert} rule={rule} from={from} />}
      <RelatedLinks alert={alert} rule={rule} from={from} to="now" />
    </>
  );
};

/** An alert: why it fires, what to do, and what happened around it. */
export const AlertStatus = ({ alert }: { readonly alert: Alert }) => {
  const { reason, value, since, startedAt, evaluatedAt, staleSince, labels, annotations } = alert;
  const { acknowledged, origin } = alert;
  const people = useNames();
  const from = useMemo(() => getContextStart(alert), [since, startedAt]);
  return (
    <>
      <AlertState alert={alert} />
      <p>
        <b>{renderText(reason)}</b>
      </p>
      <AnnotationLinks annotations={annotations} />
      {staleSince === null ? null : (
        <p class="problem">Last evaluated at {formatIsoTime(staleSince)}: the alert state may be outdated.</p>
      )}
      {acknowledged === null ? null : (
        <p>
          {renderText(people[acknowledged.by] ?? acknowledged.by)} acknowledged this alert at{' '}
          {formatIsoTime(acknowledged.at)}. {renderText(acknowledged.note)}
        </p>
      )}
      {isPermitted(acknowledgeCall) ? (
        acknowledged === null ? (
          <AcknowledgeForm id={alert.id} />
        ) : null
      ) : (
        <p class="soft">{explainDenial(acknowledgeCall, 'Acknowledging alerts')}</p>
      )}
      {isPermitted(createSilenceCall) ? <SilenceForm labels={labels} /> : null}
      <Muting silencedBy={alert.silencedBy} inhibitedBy={alert.inhibitedBy} />
      {origin === 'rule' ? <RuleContext alert={alert} from={from} /> : null}
      {origin === 'rule' ? <ProbableCauses symptom={{ alertId: alert.id }} /> : null}
      <Fields
        values={{
          value: formatAlertValue({ value, reason: alert.reason }),
          'pending since': formatIsoTime(since),
          'firing since': formatIsoTime(startedAt),
          'last evaluation': formatIsoTime(evaluatedAt),
          ...annotations,
        }}
      />
      <h3>Labels</h3>
      <Fields values={labels} />
      <NotifiedChannels labels={labels} />
      {origin === 'rule' ? (
        <>
          <h3>Recent evaluations</h3>
          <p class="links">
            <Link url={toArea('/alerts/history', { alertId: alert.id })}>State history</Link>
          </p>
          <Evaluations ruleId={alert.ruleId} alertId={alert.id} />
        </>
      ) : null}
    </>
  );
};

/** Loads an alert by its id: it is resolved, or not on the loaded pages of the list. */
export const LoadedAlert = ({
  id,
  children,
}: {
  readonly id: string;
  readonly children: (alert: Alert | undefined) => ComponentChildren;
}) => {
  const { response, error } = useQuery(alertsCall, { query: { alertId: id } });
  return (
    <>
      <ErrorMessage error={error} />
      {response === undefined ? null : children(response.items[0])}
    </>
  );
};

const AlertSidePanel = ({
  id,
  alert,
  onClose,
}: {
  readonly id: string;
  readonly alert: Alert | undefined;
  readonly onClose: () => void;
}) => (
  <SidePanel
    label="Alert"
    title={alert?.ruleName ?? 'Alert'}
    {...(alert === undefined ? {} : { url: toArea('/alerts/alert', { alert: id }) })}
    onClose={onClose}
  >
    {alert === undefined ? <p>This alert does not exist anymore.</p> : <AlertStatus alert={alert} />}
  </SidePanel>
);

export const AlertPanel = ({
  id,
  alert,
  onClose,
}: {
  readonly id: string;
  readonly alert: Alert | undefined;
  readonly onClose: () => void;
}) =>
  alert === undefined ? (
    <LoadedAlert id={id}>{(loaded) => <AlertSidePanel id={id} alert={loaded} onClose={onClose} />}</LoadedAlert>
  ) : (
    <AlertSidePanel id={id} alert={alert} onClose={onClose} />
  );
