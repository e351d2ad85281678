/** Get started: sending instructions with demo data, the checklist of a new organization, and a diagnosis for missing data */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import type { ResponseBody } from '../../client/call.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { dismissCall, onboardingCall } from './calls.ts';
import { DemoData } from './demo-shop.tsx';
import { Doctor, doctorCall } from './doctor.tsx';
import { SendingInstructions } from './sending-instructions.tsx';

type Step = ResponseBody<NonNullable<typeof onboardingCall.operation>>['steps'][number];

/** The view that does each step */
const stepUrls: Readonly<Record<Step['id'], string>> = {
  'create-key': '/settings/keys',
  'send-logs': '/get-started',
  'send-metrics': '/get-started',
  'send-traces': '/get-started',
  'create-dashboard': '/dashboards/templates',
  'create-alert': '/alerts/rule',
  'invite-teammate': '/settings/people',
};

const StepItem = ({ step, onSkip }: { readonly step: Step; readonly onSkip: () => void }) => {
  const { id, title, isDone, completedAt, dismissed: isDismissed, next, problem } = step;
  return (
    <li>
      <Badge tone={isDone ? 'ok' : 'neutral'}>{isDone ? 'Done' : isDismissed ? 'Skipped' : 'To do'}</Badge>{' '}
      <Link url={toArea(stepUrls[id])}>{renderText(title)}</Link>
      {isDone && completedAt !== null ? <span class="soft"> {formatIsoMinute(completedAt)}</span> : null}
      {isDone || isDismissed ? null : <p class="soft">{renderText(next)}</p>}
      {problem === null ? null : (
        <p class="text-warn" role="status">
          {renderText(problem)}
        </p>
      )}
      {isPermitted(dismissCall) && !isDone ? (
        <button type="button" class="mini" onClick={onSkip}>
          {isDismissed ? 'Restore' : 'Skip'}
          <span class="sr-only">: {title}</span>
        </button>
      ) : null}
    </li>
  );
};

const OnboardingChecklist = () => {
  const [action] = useState(() => new Action(dismissCall));
  const { response, error } = useQuery(onboardingCall, {});
  const dismissedSteps = response?.dismissed ?? [];
  const toggle = async ({ id, dismissed: isDismissed }: Step): Promise<void> => {
    const dismissed = isDismissed ? dismissedSteps.filter((stepId) => stepId !== id) : [...dismissedSteps, id];
    if ((await action.run({ body: { dismissed } })) !== undefined) refresh();
  };
  const steps = response?.steps ?? [];
  return (
    <Card title="Checklist" note={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length}`}>
      <ErrorMessage error={error ?? action.error.value} />
      {response?.complete ? <p role="status">All steps are done.</p> : null}
      <ol class="steps">
        {steps.map((step) => (
          <StepItem key={step.id} step={step} onSkip={() => void toggle(step)} />
        ))}
      </ol>
    </Card>
  );
};

const Start = () => (
  <ScrollRegion class="scrolled" label="Get started">
    <h2>Send your first telemetry</h2>
    <p class="soft">Select what you run. Data appears here within seconds.</p>
    <div class="get-started">
      <div>
        <SendingInstructions />
        <DemoData />
      </div>
      <div class="checklist">
        <OnboardingChecklist />
      </div>
    </div>
  </ScrollRegion>
);

export const GetStarted = createTabbedView('Get started', [
  { name: '', title: 'Send data', View: Start },
  { name: 'doctor', title: 'Troubleshooting', View: Doctor, requiredCall: doctorCall },
]);
