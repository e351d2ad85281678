/** Side panel of an alert: why it fires, its history, its notifications, and silences */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { type Alert, acknowledgeCall, createSilenceCall } from './calls.ts';
import { Evaluations } from './evaluations.tsx';
import { NotifiedChannels } from './notifications.tsx';
import { formatAlertValue } from './shown.ts';
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
  };
  return (
    <ActionForm action={action} label="Silence" onSubmit={createSilence} message={message}>
      <SilenceFields />
    </ActionForm>
  );
};

const ProbableCauses = lazyLoad(async () => (await import('../../lists/causes.tsx')).Causes);

const ServiceLinks = ({ service }: { readonly service: string }) => (
  <ul class="links">
    <li>
      <Link url={toArea('/services', { service })}>Service</Link>
    </li>
    <li>
      <Link url={toArea('/logs', { search: toCondition('service', service) })}>Service logs</Link>
    </li>
    <li>
      <Link url={toArea('/traces', { search: toCondition('service', service) })}>Service traces</Link>
    </li>
  </ul>
);

const AlertStatus = ({ alert }: { readonly alert: Alert }) => {
  const { reason, state, severity, value, since, startedAt, evaluatedAt, staleSince, labels, annotations } = alert;
  const { acknowledged, origin } = alert;
  const service = labels['service'] ?? labels['service.name'];
  return (
    <>
      <p>{renderText(reason)}</p>
      {staleSince === null ? null : (
        <p class="problem">Last evaluated at {formatIsoTime(staleSince)}: the alert state may be outdated.</p>
      )}
      {service === undefined ? null : <ServiceLinks service={service} />}
      {acknowledged === null ? null : (
        <p>
          {renderText(acknowledged.by)} acknowledged this alert at {formatIsoTime(acknowledged.at)}.{' '}
          {renderText(acknowledged.note)}
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
      {origin === 'rule' ? <ProbableCauses symptom={{ alertId: alert.id }} /> : null}
      <Fields
        values={{
          state,
          severity,
          value: formatAlertValue({ value, reason: alert.reason }),
          'pending since': formatIsoTime(since),
          'firing since': formatIsoTime(startedAt),
          'last evaluation': formatIsoTime(evaluatedAt),
          ...annotations,
        }}
      />
      <h3>Labels</h3>
      <Fields values={labels} />
      {origin === 'rule' ? (
        <>
          <h3>Recent evaluations</h3>
          <p class="links">
            <Link url={toArea('/alerts/history', { alertId: alert.id })}>State history</Link>
          </p>
          <Evaluations ruleId={alert.ruleId} alertId={alert.id} />
        </>
      ) : null}
      <NotifiedChannels labels={labels} />
    </>
  );
};

export const AlertPanel = ({ alert, onClose }: { readonly alert: Alert | undefined; readonly onClose: () => void }) => (
  <SidePanel label="Alert" title={alert?.ruleName ?? 'Alert'} onClose={onClose}>
    {alert === undefined ? (
      <p>This alert is resolved or is not on the loaded pages of the list.</p>
    ) : (
      <AlertStatus alert={alert} />
    )}
  </SidePanel>
);
