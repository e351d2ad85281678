/** Changes of the routing document by the forms of the page. */
import test from 'ava';
import { AlertRouting } from '../../../schemas/resources/alert-routing.ts';
import {
  addDefaultTargets,
  addRoute,
  createRoute,
  deleteRoute,
  findRoutesTo,
  findRuleTargets,
  moveRouteUp,
  putReceiver,
  renameRuleRoute,
  setRuleTargets,
} from '../../../web/areas/alerts/routing/changes.ts';

const routing = AlertRouting.parse({
  route: {
    receiver: 'default',
    routes: [
      {
        receiver: 'shop',
        matchers: [{ name: 'team', value: 'shop' }],
        routes: [{ matchers: [{ name: 'tier', value: '1' }] }],
      },
      { matchers: [{ name: 'team', value: 'web' }] },
    ],
  },
  receivers: [{ name: 'default' }, { name: 'shop', channelIds: ['slack'] }],
});
const outline = ({ route }: AlertRouting): unknown => {
  const toOutline = (each: AlertRouting['route']): unknown => [
    each.matchers.map(({ name, value }) => `${name}=${value}`).join(),
    each.receiver ?? '',
    ...each.routes.map(toOutline),
  ];
  return toOutline(route);
};
const shop = ['team=shop', 'shop', ['tier=1', '']];
const web = ['team=web', ''];

test('a rule gets a first route of its own, which is found, renamed and deleted with its receiver', (t) => {
  const withTargets = setRuleTargets(routing, 'Slow', { channelIds: ['mail'], escalationPolicyId: 'nights' }, 'Slow');
  t.deepEqual(outline(withTargets), ['', 'default', ['alertname=Slow', 'Slow'], shop, web]);
  t.like(findRuleTargets(withTargets, 'Slow'), { channelIds: ['mail'], escalationPolicyId: 'nights' });
  t.is(findRuleTargets(withTargets, 'Slower'), undefined);
  const renamed = renameRuleRoute(withTargets, 'Slow', 'Slower');
  t.deepEqual(outline(renamed), ['', 'default', ['alertname=Slower', 'Slow'], shop, web]);
  t.deepEqual(setRuleTargets(renamed, 'Slower', { channelIds: [] }, 'Slower'), routing);
  AlertRouting.parse(renamed);
});

test('a rule uses a receiver with the same targets, and other routes keep their receiver', (t) => {
  const withTargets = setRuleTargets(routing, 'Slow', { channelIds: ['slack'] }, 'Slow');
  t.deepEqual(outline(withTargets), ['', 'default', ['alertname=Slow', 'shop'], shop, web]);
  t.is(withTargets.receivers.length, 2);
  const changed = setRuleTargets(withTargets, 'Slow', { channelIds: ['mail'] }, 'shop');
  t.deepEqual(outline(changed), ['', 'default', ['alertname=Slow', 'shop 2'], shop, web]);
  t.deepEqual(outline(setRuleTargets(changed, 'Slow', undefined, 'Slow')), outline(routing));
});

test('routes are added, moved and deleted by their position', (t) => {
  const added = addRoute(routing, '0/0', createRoute({ receiver: 'default' }));
  t.deepEqual(outline(added), ['', 'default', [...shop, ['', 'default']], web]);
  t.deepEqual(outline(moveRouteUp(routing, '0/1')), ['', 'default', web, shop]);
  t.is(moveRouteUp(routing, '0'), routing);
  t.deepEqual(outline(deleteRoute(routing, '0/0/0')), ['', 'default', ['team=shop', 'shop'], web]);
  t.is(deleteRoute(routing, '0'), routing);
});

test('a renamed receiver is renamed in its routes', (t) => {
  const renamed = putReceiver(routing, { name: 'store', channelIds: ['slack'], sendResolved: true }, 'shop');
  t.deepEqual(outline(renamed), ['', 'default', ['team=shop', 'store', ['tier=1', '']], web]);
});

test('routes to a contact point include those that inherit its receiver', (t) => {
  const toSlack = (changed: AlertRouting) =>
    findRoutesTo(changed, ({ channelIds }) => channelIds.includes('slack')).map(({ id }) => id);
  t.deepEqual(toSlack(routing), ['0/0', '0/0/0']);
  t.deepEqual(toSlack(addDefaultTargets(routing, { channelIds: ['slack'] })), ['0', '0/0', '0/0/0', '0/1']);
});
