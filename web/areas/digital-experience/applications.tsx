/** Applications: browser sessions, releases and SDKs, and what was refused of their keys */
import { formatNumber } from '../../charts/values.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Application, applicationsCall } from './calls.ts';
import { areaPath, BadCount } from './session-format.tsx';

const formatShare = (share: number): string => `${formatNumber(share * 100)} %`;

const formatSampling = ({ sampling }: Application): string => {
  if (sampling === null) return 'not reported';
  const { min, max } = sampling;
  return min === max ? formatShare(min) : `${formatShare(min)} to ${formatShare(max)}`;
};

const ApplicationLinks = ({ name }: { readonly name: string }) => (
  <ul class="links">
    {(
      [
        ['sessions', 'Sessions'],
        ['web-vitals', 'Web vitals'],
        ['pages', 'Pages'],
        ['resources', 'Resources'],
        ['errors', 'Errors'],
      ] as const
    ).map(([tab, title]) => (
      <li key={tab}>
        <Link url={toArea(`${areaPath}/${tab}`, { application: name })}>{title}</Link>
      </li>
    ))}
  </ul>
);

const RefusedRequests = ({ refused }: Pick<Application, 'refused'>) => (
  <section aria-label="Refused requests">
    <h3>Refused requests</h3>
    {refused.length === 0 ? (
      <p class="soft">No request was refused in this range.</p>
    ) : (
      <table class="figures">
        <TableHeader columns={['Reason', 'Requests', 'Records']} />
        <tbody>
          {refused.map(({ reason, requests, records }) => (
            <tr key={reason}>
              <td>{renderText(reason)}</td>
              <td>{formatNumber(requests)}</td>
              <td>{formatNumber(records)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

export const Applications = createListView({
  title: 'Applications',
  call: applicationsCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-sessions', 'Sessions'],
        ['-errors', 'Errors'],
        ['-lastEventAt', 'Last event'],
        ['name', 'Name'],
      ],
    },
  ],
  emptyText: 'No applications in this range.',
  toKey: ({ name }) => name,
  columns: {
    Application: ({ name }) => name,
    Sessions: ({ sessions }) => formatNumber(sessions),
    Views: ({ views }) => formatNumber(views),
    Errors: ({ errors }) => <BadCount count={errors} />,
    Frustrations: ({ frustrations }) => <BadCount count={frustrations} />,
    Release: ({ releases }) => releases[0] ?? '–',
    SDK: ({ sdks }) => sdks.map(({ name, version }) => [name, version].filter(Boolean).join(' ')).join(', '),
    'Last event': ({ lastEventAt }) => formatIsoSecond(lastEventAt),
  },
  wideColumns: ['Views', 'Frustrations', 'Release', 'SDK', 'Last event'],
  numericColumns: ['Sessions', 'Views', 'Errors', 'Frustrations'],
  ItemPanel: ({ id, item, onClose }) => (
    <SidePanel label="Application" title={id} onClose={onClose}>
      {item === undefined ? (
        <p class="soft">This application has no sessions in this range.</p>
      ) : (
        <>
          <ApplicationLinks name={id} />
          <Fields
            values={{
              Releases: item.releases.join(', '),
              Environments: item.environments.join(', '),
              'Reported sampling': formatSampling(item),
              'Browser keys': item.keys,
              'Recorded sessions': item.recordings.sessions,
              'Values masked on arrival': item.recordings.maskedValues,
            }}
          />
          <RefusedRequests refused={item.refused} />
        </>
      )}
    </SidePanel>
  ),
});
