/** Shutdown of a server: in-flight calls are answered, new calls are refused, and no connection remains. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import test from 'ava';
import { data, flag, opening, Peer, preface, request, setting, type, windowUpdate } from './http2-client.ts';
import { closedOnce, onEach, serving } from './http2-fixture.ts';

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  return (await Promise.race([promise, new Promise((resolve) => setTimeout(() => resolve(pending), 50))])) !== pending;
};

onEach('a server without connections closes at once, and may be asked to twice', async (t) => {
  await using fixture = await serving({}, t.context);
  await Promise.all([fixture.http2.close(), fixture.http2.close()]);
  t.false(fixture.http2.server.listening);
});

onEach('a connection on which nothing is in hand is told, and closed', async (t) => {
  await using fixture = await serving({}, t.context);
  const peer = fixture.greeted().send(request(7));
  await peer.untilEvent('end 7');
  const closing = fixture.http2.close();
  await peer.closed();
  await closing;
  t.deepEqual(peer.events.slice(-2), ['goaway NO_ERROR', 'closed']);
  const goaway = peer.frames.at(-1);
  t.is(goaway?.kind, type.goaway);
  t.is(goaway?.payload.readUInt32BE(0), 7, 'the last stream that was taken');
});

onEach('connections that have not said anything yet do not hold up the end', async (t) => {
  await using fixture = await serving({}, t.context);
  const silent = new Peer(fixture.port);
  const half = new Peer(fixture.port).send(preface.slice(0, 10));
  const noSettings = new Peer(fixture.port).send(preface);
  await noSettings.untilEvent('settings');
  await fixture.greeted().settled();
  const closing = fixture.http2.close();
  await Promise.all([silent.closed(), half.closed(), noSettings.closed()]);
  await closing;
  t.pass();
});

test('in-flight calls are answered, and new calls are refused', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted().send(opening(1), opening(3, '/silent'), data(1, 'one')).settled();
  const closing = fixture.http2.close();
  await peer.untilEvent('goaway NO_ERROR');
  peer.send(request(5), data(1, 'two', flag.endStream));
  await peer.untilEvent('reset 5 REFUSED_STREAM');
  await peer.untilEvent('bytes 1 7');
  await peer.untilEvent('end 1');
  t.is(fixture.calls.length, 2);
  t.is(fixture.calls[0]?.bytes, 6);
  t.false(await isSettled(closing), 'a call is left');
  t.false(peer.isClosed);
  fixture.calls[1]?.stream.respond({ ':status': '200' });
  fixture.calls[1]?.stream.end({ 'grpc-status': '0' });
  await peer.untilEvent('end 3');
  await peer.closed();
  await closing;
  closedOnce(t, fixture);
});

onEach('an answer that waits for a window comes whole before the connection ends', async (t) => {
  await using fixture = await serving({}, t.context);
  const peer = await fixture.greeted([setting.window, 3]).send(request(1)).settled();
  const closing = fixture.http2.close();
  await peer.untilEvent('goaway NO_ERROR');
  t.false(await isSettled(closing));
  await peer.send(windowUpdate(1, 100)).untilEvent('end 1');
  t.is(peer.bytesOn(1), 7);
  await peer.closed();
  await closing;
  closedOnce(t, fixture);
});

onEach('a client that goes instead of waiting does not hold up the end', async (t) => {
  await using fixture = await serving({}, t.context);
  const peer = await fixture.greeted().send(request(1, '/silent')).settled();
  const closing = fixture.http2.close();
  await peer.untilEvent('goaway NO_ERROR');
  peer.socket.destroy();
  await closing;
  closedOnce(t, fixture);
});

onEach('nobody can connect to a server that closes', async (t) => {
  await using fixture = await serving({}, t.context);
  const held = await fixture.greeted().send(request(1, '/silent')).settled();
  const closing = fixture.http2.close();
  await held.untilEvent('goaway NO_ERROR');
  const late = new Peer(fixture.port).greet();
  await late.closed();
  t.deepEqual(late.events, ['closed']);
  held.socket.destroy();
  await closing;
});

onEach('another client takes the end for what it is, and gets its answer', async (t) => {
  await using fixture = await serving({}, t.context);
  const client = connect(`http://127.0.0.1:${fixture.port}`);
  const stream = client.request({ ':method': 'POST' });
  stream.write('half');
  while (fixture.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const goawayEvent = once(client, 'goaway');
  const closing = fixture.http2.close();
  const [code] = await goawayEvent;
  t.is(code, 0);
  stream.end(' and half');
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  t.is(Buffer.concat(parts).toString(), '13 bytes');
  await closing;
  closedOnce(t, fixture);
});

onEach('a server that is destroyed cuts every connection, and closes every call once', async (t) => {
  await using fixture = await serving({}, t.context);
  const peers = await Promise.all(
    [1, 2, 3].map(() =>
      fixture.greeted([setting.window, 0]).send(request(1), opening(3, '/silent'), opening(5, '/early')).settled(),
    ),
  );
  fixture.http2.destroy();
  await Promise.all(peers.map((peer) => peer.closed()));
  await fixture.empty();
  t.is(fixture.calls.length, 9);
  closedOnce(t, fixture);
});
