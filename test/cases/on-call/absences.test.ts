/** When a person was absent, according to the audit log and the membership. */
import test from 'ava';
import { type CurrentMembership, deriveAbsences, type MemberRecord } from '../../../subjects/on-call/absences.ts';

const day = (date: number): string => new Date(Date.UTC(2026, 10, date)).toISOString();
const nowMs = Date.parse(day(20));
const record = (date: number, action: string, disabled?: boolean): MemberRecord => ({
  at: day(date),
  action,
  details: {
    salt: '',
    actorName: '',
    resourceName: '',
    address: '',
    changes: disabled === undefined ? [] : [{ path: 'disabled', before: !disabled, after: disabled }],
  },
});
const disable = (date: number) => record(date, 'user.update', true);
const enable = (date: number) => record(date, 'user.update', false);
const remove = (date: number) => record(date, 'user.remove');
const join = (date: number) => record(date, 'user.join');
const member = (disabled: boolean, createdAt = day(1), updatedAt = day(15)): CurrentMembership => ({
  disabled,
  createdAt,
  updatedAt,
});

const cases: readonly (readonly [
  what: string,
  records: readonly MemberRecord[],
  membership: CurrentMembership | undefined,
  absences: readonly string[],
])[] = [
  ['somebody who was always a member', [join(1), record(3, 'user.update')], member(false), []],
  ['who is blocked since', [join(1), disable(5)], member(true), ['unreachable 5-']],
  ['who was blocked, and is unblocked', [disable(5), enable(8)], member(false), ['unreachable 5-8']],
  [
    'who was blocked twice',
    [disable(5), enable(8), disable(10), enable(11)],
    member(false),
    ['unreachable 5-8', 'unreachable 10-11'],
  ],
  ['who left', [join(1), remove(6)], undefined, ['left 6-']],
  ['who left while blocked', [disable(5), remove(6)], undefined, ['unreachable 5-6', 'left 6-']],
  ['who left, and joined again', [remove(6), join(9)], member(false, day(9)), ['left 6-9']],
  ['who left, and whose return has no record', [remove(6)], member(false, day(9)), ['left 6-9']],
  ['who is blocked, without a record', [], member(true), ['unreachable 15-']],
  ['who is no longer a member, without a record', [], undefined, ['left 20-']],
  ['whose records were erased', [{ ...disable(5), details: null }], member(false), []],
];
for (const [what, records, membership, absences] of cases)
  test(`absences of somebody ${what.replace('somebody ', '')}`, (t) => {
    const dayOf = (ms: number | undefined): number | '' => (ms === undefined ? '' : new Date(ms).getUTCDate());
    t.deepEqual(
      deriveAbsences(records, membership, nowMs).map(
        ({ reason, fromMs, toMs }) => `${reason} ${dayOf(fromMs)}-${dayOf(toMs)}`,
      ),
      absences,
    );
  });
