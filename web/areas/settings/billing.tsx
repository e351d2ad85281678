/** Billing of the organization: plan, cost so far and forecast, and available plans */
import { useState } from 'preact/hooks';
import type { getBilling } from '../../../api/groups/usage/billing.ts';
import type { changePlan } from '../../../api/groups/usage/change-plan.ts';
import type { getEntitlements, listPlans } from '../../../api/groups/usage/plans.ts';
import { renderKnownNumber } from '../../charts/render-number.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { Field } from '../../editors/field.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { openSession } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const billingCall = declareCall<typeof getBilling>('GET', '/api/billing');
const plansCall = declareCall<typeof listPlans>('GET', '/api/plans');
const entitlementsCall = declareCall<typeof getEntitlements>('GET', '/api/entitlements');
const changeCall = declareCall<typeof changePlan>('PUT', '/api/billing/plan');

type BillingResponse = ResponseBody<typeof getBilling>;
type Plan = ResponseBody<typeof listPlans>['items'][number];

const telemetrySignals = ['logs', 'metrics', 'traces'] as const;
/** Returns the UTC date of a timestamp. */
const toDate = (time: string): string => time.slice(0, 10);

const MonthField = ({ problem }: { readonly problem: string | undefined }) => (
  <Field label="Month" problem={problem} hint="UTC month, for example 2026-03. Default: the current month.">
    <input
      type="month"
      value={readParam('month')}
      aria-invalid={problem !== undefined}
      onChange={({ currentTarget }) => setParams({ month: currentTarget.value })}
    />
  </Field>
);

const CostTable = ({
  billing: { plan, period, currency, acceptedBytes, cost, projected, asOf },
}: {
  readonly billing: BillingResponse;
}) => {
  const unit = currency ?? '';
  return (
    <>
      <p>
        Plan <b>{renderText(plan.name)}</b>
        {plan.price === null
          ? ', no price'
          : `, ${plan.price.perMonth} ${plan.price.currency} per month plus usage beyond it`}
        ; from {toDate(period.from)} to {toDate(period.to)}, as of {formatIsoMinute(asOf)}.
      </p>
      <table class="figures">
        <TableHeader columns={['Signal', 'Accepted', 'Cost to date', 'Projected cost']} />
        <tbody>
          {telemetrySignals.map((signal) => (
            <tr key={signal}>
              <td>{signal}</td>
              <td>{formatQuantity(acceptedBytes[signal], 'By')}</td>
              <td>{renderKnownNumber(cost.signals[signal], unit)}</td>
              <td>{renderKnownNumber(projected.signals[signal], unit)}</td>
            </tr>
          ))}
          <tr>
            <td>Total, including the monthly price</td>
            <td />
            <td>{renderKnownNumber(cost.total, unit)}</td>
            <td>{renderKnownNumber(projected.total, unit)}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
};

/** Button that asks for confirmation of a plan change, and asks again if features or data would be lost */
const ChangePlanButton = ({
  plan: { id, name },
  onChanged,
}: {
  readonly plan: Plan;
  readonly onChanged: (text: string) => void;
}) => {
  const [action] = useState(() => new Action(changeCall));
  const [isConfirming, setIsConfirming] = useState(false);
  const error = action.error.value;
  const losses = error?.status === 409 ? error.details : [];
  const confirmChange = async (): Promise<void> => {
    if (!isConfirming) return setIsConfirming(true);
    const response = await action.run({ body: { planId: id, acceptLosses: losses.length > 0 } });
    if (response === undefined) return;
    onChanged(`The plan was changed from ${response.previousPlan.name} to ${response.plan.name}.`);
    // The permissions of this user may have changed.
    openSession();
    refresh();
  };
  const label = losses.length > 0 ? 'Change plan anyway' : isConfirming ? 'Change plan now' : 'Choose';
  return (
    <div class="act">
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void confirmChange()}>
        {label}
        <span class="sr-only">: {renderText(name)}</span>
      </button>
      {losses.length === 0 ? (
        <ErrorMessage error={error} />
      ) : (
        <div role="alert">
          <p>If you change to {renderText(name)}, you lose the following:</p>
          <ul>
            {losses.map(({ path, message }) => (
              <li key={path}>{renderText(message)}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
};

const formatRetention = ({ retentionDays: { logs, metrics, traces } }: Plan): string =>
  `${logs}, ${metrics} and ${traces} days`;

const PlanTable = ({
  plans,
  onChanged,
}: {
  readonly plans: readonly Plan[];
  readonly onChanged: (text: string) => void;
}) => (
  <table class="figures texts">
    <TableHeader columns={['Plan', 'Monthly price', 'Retention of logs, metrics, traces', 'Daily limit', 'Actions']} />
    <tbody>
      {plans.map((plan) => (
        <tr key={plan.id}>
          <td>{renderText(plan.name)}</td>
          <td>{plan.price === null ? 'no price' : `${plan.price.perMonth} ${plan.price.currency}`}</td>
          <td>{formatRetention(plan)}</td>
          <td>{plan.limits.bytesPerDay === null ? 'no limit' : formatQuantity(plan.limits.bytesPerDay, 'By')}</td>
          <td>
            {plan.current ? (
              'current plan'
            ) : plan.available && isPermitted(changeCall) ? (
              <ChangePlanButton plan={plan} onChanged={onChanged} />
            ) : (
              ''
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const FeatureTable = () => {
  const { response, error } = useQuery(entitlementsCall, {});
  return (
    <>
      <ErrorMessage error={error} />
      <table class="figures texts">
        <TableHeader columns={['Feature', 'Included', 'Plans that include it']} />
        <tbody>
          {response?.entitlements.map(({ name, enabled, plans }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{enabled ? 'yes' : 'no'}</td>
              <td>{renderText(plans.map((plan) => plan.name).join(', '))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};

export const Billing = () => {
  const month = readParam('month');
  const queryState = useQuery(billingCall, { query: month === '' ? {} : { month } });
  const plansQuery = useQuery(plansCall, {});
  const [message, setMessage] = useState('');
  const { response, error } = queryState;
  const monthProblem = error?.of('month');
  return (
    <>
      <ScrollRegion class="scrolled" label="Billing">
        <h2>Cost</h2>
        <MonthField problem={monthProblem} />
        {monthProblem === undefined ? <ErrorMessage error={error} /> : null}
        {response === undefined && error === undefined ? <Skeleton height={256} /> : null}
        {response === undefined ? null : <CostTable billing={response} />}
        <h2>Plans</h2>
        <p role="status">{renderText(message)}</p>
        {response?.selfService === false ? (
          <p class="soft">Only the operator of this installation can change the plan.</p>
        ) : null}
        <ErrorMessage error={plansQuery.error} />
        {plansQuery.response === undefined ? (
          plansQuery.error === undefined ? (
            <Skeleton height={131} />
          ) : null
        ) : (
          <PlanTable plans={plansQuery.response.items} onChanged={setMessage} />
        )}
        <h2>Plan features</h2>
        <FeatureTable />
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
