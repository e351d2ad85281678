/** URLs for calendar subscriptions to on-call shifts: creation, one-time display, and revocation */
import { useState } from 'preact/hooks';
import type {
  createCalendarFeed,
  listCalendarFeeds,
  revokeCalendarFeed,
} from '../../../api/groups/incidents/calendar-feeds.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { useNames } from '../../frame/people.ts';
import { session } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { calendarFeedsCall, schedulesCall } from './calls.ts';

const createFeedCall = declareCall<typeof createCalendarFeed>('POST', '/api/on-call/calendar-feeds');
const revokeFeedCall = declareCall<typeof revokeCalendarFeed>('DELETE', '/api/on-call/calendar-feeds/{id}');

type CalendarFeed = ResponseBody<typeof listCalendarFeeds>['items'][number];

interface Schedule {
  readonly id: string;
  readonly name: string;
}

const CreateCalendarForm = ({ schedules }: { readonly schedules: readonly Schedule[] }) => {
  const [action] = useState(() => new Action(createFeedCall));
  const [feedUrl, setFeedUrl] = useState('');
  const createFeed = async (form: HTMLFormElement): Promise<void> => {
    const scheduleId = String(new FormData(form).get('schedule')) || null;
    const createdFeed = await action.run({ body: { scheduleId } });
    // If the API has no configured public URL, the origin of this page is used.
    setFeedUrl(createdFeed === undefined ? '' : createdFeed.url || `${location.origin}${createdFeed.path}`);
    if (createdFeed !== undefined) refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create calendar link" onSubmit={createFeed}>
        <label>
          Shifts{' '}
          <select name="schedule">
            <option value="">all my shifts, in every schedule</option>
            {schedules.map(({ id, name }) => (
              <option key={id} value={id}>
                {renderText(name)}
              </option>
            ))}
          </select>
        </label>
      </ActionForm>
      {feedUrl === '' ? null : (
        <p role="status">
          The link is shown only once. Anyone with the link can read the calendar: <code>{feedUrl}</code>
        </p>
      )}
    </>
  );
};

const FeedRow = ({
  feed,
  shiftsText,
  creator,
}: {
  readonly feed: CalendarFeed;
  readonly shiftsText: string;
  readonly creator: string;
}) => {
  const [action] = useState(() => new Action(revokeFeedCall));
  return (
    <tr>
      <td>
        <bdi>{renderText(shiftsText)}</bdi>
      </td>
      <td>
        <bdi>{renderText(creator)}</bdi>
      </td>
      <td>{formatIsoMinute(feed.createdAt)}</td>
      <td>
        <RemovalForm
          action={action}
          labels={['Revoke', 'Revoke; calendars stop receiving updates']}
          remove={() => action.run({ params: { id: feed.id } })}
          onRemoved={() => undefined}
        />
      </td>
    </tr>
  );
};

export const Calendars = () => {
  const queryState = useQuery(calendarFeedsCall, {});
  const schedules = useQuery(schedulesCall, { query: { limit: 1000, sort: 'name' } }).response?.items ?? [];
  const people = useNames();
  const { response, error } = queryState;
  const describeShifts = ({ scheduleId, userId }: CalendarFeed): string =>
    scheduleId === null
      ? userId === session.value?.user.id
        ? 'all my shifts'
        : 'all shifts of the creator'
      : (schedules.find(({ id }) => id === scheduleId)?.name ?? 'a deleted schedule');
  return (
    <>
      <CreateCalendarForm schedules={schedules} />
      <ErrorMessage error={error} />
      <ScrollRegion class="scrolled" label="Calendars">
        {response === undefined ? null : response.items.length === 0 ? (
          <EmptyView title="No calendar links yet." />
        ) : (
          <table class="figures texts">
            <TableHeader columns={['Shifts', 'Created by', 'Created', 'Actions']} />
            <tbody>
              {response.items.map((feed) => (
                <FeedRow
                  key={feed.id}
                  feed={feed}
                  shiftsText={describeShifts(feed)}
                  creator={people[feed.userId] ?? feed.userId}
                />
              ))}
            </tbody>
          </table>
        )}
      </ScrollRegion>
      <Freshness queryState={queryState} />
    </>
  );
};
