/** One template: panels with and without data, required telemetry, and dashboards created from it */

import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type TemplateDetails, templateCall, templateUsageCall } from './calls.ts';

const DataCoverage = ({ of }: { readonly of: TemplateDetails['fits'] }) =>
  of === null ? (
    <p role="status">The telemetry could not be read, so it is unknown which panels have data.</p>
  ) : (
    <table class="figures texts">
      <TableHeader columns={['Panel', 'Missing data']} />
      <tbody>
        {of.map(({ panelId, title, missing }) => (
          <tr key={panelId}>
            <td>{shownText(title || panelId)}</td>
            <td>{missing.length === 0 ? <span class="soft">none</span> : shownText(missing.join('; '))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );

/** Number of dashboards created from the template, number that still exist, and their recent views. */
const TemplateUsage = ({ id }: { readonly id: string }) => {
  const { answer, error } = useQuery(templateUsageCall, {});
  const usage = answer?.items.find((each) => each.id === id);
  return (
    <>
      <Problem error={error} />
      {answer === undefined || usage === undefined ? null : (
        <Fields
          values={{
            'created here': usage.dashboards,
            'existing dashboards': usage.present,
            [`views in ${answer.viewedDays} days`]: usage.opened,
            'last created': shownMoment(usage.lastCreatedAt),
          }}
        />
      )}
    </>
  );
};

export const TemplatePanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { answer, error } = useQuery(templateCall, { params: { id }, query: {} });
  return (
    <SidePanel label="Template" title={answer?.name ?? 'Template'} onClose={onClose}>
      <Problem error={error} />
      {answer === undefined ? null : (
        <>
          <p>{shownText(answer.description, { lines: true })}</p>
          <DataCoverage of={answer.fits} />
          <h3>Purpose</h3>
          <Fields
            values={{
              source: answer.sentBy.join(', '),
              rank: answer.place,
              signals: answer.needs.signals.join(', '),
              metrics: answer.needs.metrics.join(', '),
              attributes: answer.needs.attributes.join(', '),
            }}
          />
          <h3>Dashboards from this template</h3>
          <TemplateUsage id={id} />
        </>
      )}
    </SidePanel>
  );
};
