/** Billing of the organization: plan, cost so far and forecast, and available plans */
import { useState } from 'preact/hooks';
import type { getBilling } from '../../../api/groups/usage/billing.ts';
import type { changePlan } from '../../../api/groups/usage/change-plan.ts';
import type { getEntitlements, listPlans } from '../../../api/groups/usage/plans.ts';
import { knownNumber } from '../../charts/known.tsx';
import { shownValue } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { Field } from '../../editors/field.tsx';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { openSession } from '../../frame/session.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const billingCall = callOf<typeof getBilling>('GET', '/api/billing');
const plansCall = callOf<typeof listPlans>('GET', '/api/plans');
const entitlementsCall = callOf<typeof getEntitlements>('GET', '/api/entitlements');
const changeCall = callOf<typeof changePlan>('PUT', '/api/billing/plan');

type Billed = Answered<typeof getBilling>;
type Plan = Answered<typeof listPlans>['items'][number];

const signals = ['logs', 'metrics', 'traces'] as const;
/** Returns the day of a time, by which bills count. */
const day = (time: string): string => time.slice(0, 10);

const Month = ({ problem }: { readonly problem: string | undefined }) => (
  <Field label="Month" problem={problem} hint="UTC month, such as 2026-03; default: the current month">
    <input
      type="month"
      value={inAddress('month')}
      aria-invalid={problem !== undefined}
      onChange={({ currentTarget }) => change({ month: currentTarget.value })}
    />
  </Field>
);

const Costs = ({ of: { plan, period, currency, acceptedBytes, cost, projected, asOf } }: { readonly of: Billed }) => {
  const unit = currency ?? '';
  return (
    <>
      <p>
        Plan <b>{shownText(plan.name)}</b>
        {plan.price === null
          ? ', no price'
          : `, ${plan.price.perMonth} ${plan.price.currency} per month plus usage beyond it`}
        ; from {day(period.from)} to {day(period.to)}, as of {shownMoment(asOf).slice(0, 16)}.
      </p>
      <table class="figures">
        <TableHeader columns={['Signal', 'Accepted', 'Cost to date', 'Projected cost']} />
        <tbody>
          {signals.map((signal) => (
            <tr key={signal}>
              <td>{signal}</td>
              <td>{shownValue(acceptedBytes[signal], 'By')}</td>
              <td>{knownNumber(cost.signals[signal], unit)}</td>
              <td>{knownNumber(projected.signals[signal], unit)}</td>
            </tr>
          ))}
          <tr>
            <td>Total, including the monthly price</td>
            <td />
            <td>{knownNumber(cost.total, unit)}</td>
            <td>{knownNumber(projected.total, unit)}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
};

/** Confirms a plan change, and a second time if something would be lost. */
const Choose = ({
  plan: { id, name },
  onChosen,
}: {
  readonly plan: Plan;
  readonly onChosen: (text: string) => void;
}) => {
  const [action] = useState(() => new Action(changeCall));
  const [isConfirming, setConfirming] = useState(false);
  const error = action.error.value;
  const losses = error?.status === 409 ? error.details : [];
  const choose = async (): Promise<void> => {
    if (!isConfirming) return setConfirming(true);
    const answer = await action.run({ body: { planId: id, acceptLosses: losses.length > 0 } });
    if (answer === undefined) return;
    onChosen(`The plan was changed from ${answer.previousPlan.name} to ${answer.plan.name}.`);
    // The permissions of this user may have changed.
    openSession();
    refresh();
  };
  const label = losses.length > 0 ? 'Change plan anyway' : isConfirming ? 'Change plan now' : 'Choose';
  return (
    <div class="act">
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void choose()}>
        {label}
        <span class="sr-only">: {shownText(name)}</span>
      </button>
      {losses.length === 0 ? (
        <Problem error={error} />
      ) : (
        <div role="alert">
          <p>Changing to {shownText(name)} removes the following:</p>
          <ul>
            {losses.map(({ path, message }) => (
              <li key={path}>{shownText(message)}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
};

const retentionText = ({ retentionDays: { logs, metrics, traces } }: Plan): string =>
  `${logs}, ${metrics} and ${traces} days`;

const Plans = ({ of, onChosen }: { readonly of: readonly Plan[]; readonly onChosen: (text: string) => void }) => (
  <table class="figures texts">
    <TableHeader columns={['Plan', 'Monthly price', 'Retention of logs, metrics, traces', 'Daily limit', 'Actions']} />
    <tbody>
      {of.map((plan) => (
        <tr key={plan.id}>
          <td>{shownText(plan.name)}</td>
          <td>{plan.price === null ? 'no price' : `${plan.price.perMonth} ${plan.price.currency}`}</td>
          <td>{retentionText(plan)}</td>
          <td>{plan.limits.bytesPerDay === null ? 'no limit' : shownValue(plan.limits.bytesPerDay, 'By')}</td>
          <td>
            {plan.current ? (
              'current plan'
            ) : plan.available && isPermitted(changeCall) ? (
              <Choose plan={plan} onChosen={onChosen} />
            ) : (
              ''
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Included = () => {
  const { answer, error } = useQuery(entitlementsCall, {});
  return (
    <>
      <Problem error={error} />
      <table class="figures texts">
        <TableHeader columns={['Feature', 'Included', 'Plans that include it']} />
        <tbody>
          {answer?.entitlements.map(({ name, enabled, plans }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{enabled ? 'yes' : 'no'}</td>
              <td>{shownText(plans.map((plan) => plan.name).join(', '))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};

export const Billing = () => {
  const month = inAddress('month');
  const queryState = useQuery(billingCall, { query: month === '' ? {} : { month } });
  const offered = useQuery(plansCall, {});
  const [message, setMessage] = useState('');
  const { answer, error } = queryState;
  const atMonth = error?.of('month');
  return (
    <>
      <Scrolled class="scrolled" label="Billing">
        <h2>Cost</h2>
        <Month problem={atMonth} />
        {atMonth === undefined ? <Problem error={error} /> : null}
        {answer === undefined ? null : <Costs of={answer} />}
        <h2>Plans</h2>
        <p role="status">{shownText(message)}</p>
        {answer?.selfService === false ? (
          <p class="soft">Only the operator of this installation can change the plan.</p>
        ) : null}
        <Problem error={offered.error} />
        {offered.answer === undefined ? null : <Plans of={offered.answer.items} onChosen={setMessage} />}
        <h2>Features of the plan</h2>
        <Included />
      </Scrolled>
      <Freshness of={queryState} />
    </>
  );
};
