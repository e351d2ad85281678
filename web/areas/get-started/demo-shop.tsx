/** Demo data at a click: telemetry of a fictional shop in a project of its own, which can be deleted */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Confirmation } from '../../components/confirmation.tsx';
import { toArea } from '../../frame/address.ts';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { loadProjects } from '../../frame/project.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { deleteDemoCall, demoCall, loadDemoCall } from './calls.ts';

export const DemoData = () => {
  const { response, error } = useQuery(demoCall, {});
  const [loadAction] = useState(() => new Action(loadDemoCall));
  const [deleteAction] = useState(() => new Action(deleteDemoCall));
  const run = async (action: typeof loadAction | typeof deleteAction): Promise<void> => {
    if ((await (action as typeof loadAction).run({})) === undefined) return;
    await loadProjects();
    refresh();
  };
  if (response === undefined) return <ErrorMessage error={error} />;
  if (!response.isAvailable)
    return (
      <p class="soft">
        No app at hand? Run <code>npm run demo</code> next to the installation to send telemetry of a fictional shop.
      </p>
    );
  if (!isPermitted(loadDemoCall)) return <p class="soft">{explainDenial(loadDemoCall, 'Loading demo data')}</p>;
  return (
    <section aria-label="Demo data">
      <div class="act">
        {response.isLoaded ? (
          <>
            <Badge tone="ok">Demo data loaded</Badge>
            <ButtonLink url={toArea('/services', { project: response.projectId })}>View services</ButtonLink>
            <Confirmation
              label="Delete demo data"
              title="Delete the demo data of the project “Demo shop”?"
              onConfirm={() => run(deleteAction)}
            >
              Its telemetry, its project and its license keys are deleted.
            </Confirmation>
          </>
        ) : (
          <>
            <span>No app at hand?</span>
            <Button disabled={loadAction.isRunning.value} onClick={() => void run(loadAction)}>
              Load demo data
            </Button>
            <span class="soft">A small shop with an incident in the last hour, in a project that can be deleted.</span>
          </>
        )}
      </div>
      {response.sending === null ? null : (
        <p class="soft" role="status">
          Telemetry is sent until {formatIsoMinute(response.sending.endsAt)}.
        </p>
      )}
      <ErrorMessage error={loadAction.error.value ?? deleteAction.error.value} />
    </section>
  );
};
