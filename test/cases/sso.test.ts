/** Validation for single sign-on: local paths, domains, issuers and roles. */
import test from 'ava';
import { mapRole } from '../../api/identity/sso/admission.ts';
import { createVerificationRecord, extractDomain, normalizeDomain } from '../../api/identity/sso/domains.ts';
import { isLocalPath } from '../../api/identity/sso/flow.ts';
import { findIssuerProblem } from '../../api/identity/sso/provider.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';

test('a local path never leads to another site', (t) => {
  for (const path of ['/', '/a', '/a/b?c=d&e=%2F#f', '/a//b', '/@evil.example', '/?x=https://evil.example'])
    t.true(isLocalPath(path), path);
  const others = ['', 'a', '//', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/a\\b'];
  const tricks = [
    '/\t/evil.example',
    '/\n/evil.example',
    ' /',
    '/a b',
    'https://evil.example',
    'javascript:alert(1)',
    '/ä',
  ];
  for (const path of [...others, ...tricks]) t.false(isLocalPath(path), JSON.stringify(path));
});

test('domains are compared in a normalized form', (t) => {
  const same = {
    'corp.example': 'corp.example',
    ' Corp.EXAMPLE. ': 'corp.example',
    'bücher.example': 'xn--bcher-kva.example',
  };
  for (const [text, domain] of Object.entries(same)) t.is(normalizeDomain(text), domain, text);
  for (const text of [
    '',
    'example',
    'a b.example',
    '10.0.0.1',
    '*.example',
    'a..example',
    '-a.example',
    `${'a'.repeat(64)}.example`,
  ])
    t.is(normalizeDomain(text), undefined, text);
  t.is(extractDomain('a@b@corp.example'), 'corp.example');
  t.is(extractDomain('a'), undefined);
});

test('a proof is valid for one organization and one domain', (t) => {
  const box = createSecretBox('a secret key of a test, and long enough');
  const proofs = [
    createVerificationRecord(box, 'a', 'b.example'),
    createVerificationRecord(box, 'b', 'b.example'),
    createVerificationRecord(box, 'a', 'c.example'),
  ];
  t.is(new Set(proofs).size, 3);
  t.is(createVerificationRecord(box, 'a', 'b.example'), proofs[0] ?? '');
  t.not(
    createVerificationRecord(createSecretBox('another secret key of a test, and long'), 'a', 'b.example'),
    proofs[0],
  );
});

test('an issuer is an https address, or on the local machine', (t) => {
  for (const issuer of [
    'https://idp.example',
    'https://idp.example/realms/a',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://[::1]:1',
  ])
    t.is(findIssuerProblem(issuer), undefined, issuer);
  for (const issuer of [
    'idp.example',
    'http://idp.example',
    'http://127.0.0.1.evil.example',
    'file:///a',
    'https://a@idp.example',
    'https://idp.example?a',
    'https://idp.example#a',
  ])
    t.is(typeof findIssuerProblem(issuer), 'string', issuer);
});

test('the first matching mapping gives the role, and inherited property names are not claims', (t) => {
  const roleMapping = {
    claim: 'groups',
    roles: [
      { value: 'audit', role: 'auditor' },
      { value: 'ops', role: 'admin' },
    ],
  } as const;
  const mapping = { roleMapping: { ...roleMapping, roles: [...roleMapping.roles] }, defaultRole: null };
  t.is(mapRole(mapping, { groups: ['ops', 'audit'] }), 'auditor');
  t.is(mapRole(mapping, { groups: 'ops' }), 'admin');
  for (const groups of [undefined, null, [], 'OPS', ['op'], { ops: true }, [['ops']], 7])
    t.is(mapRole(mapping, { groups }), null, JSON.stringify(groups));
  t.is(mapRole({ ...mapping, defaultRole: 'viewer' }, {}), 'viewer');
  const inherited = {
    roleMapping: { claim: 'constructor', roles: [{ value: 'x', role: 'admin' as const }] },
    defaultRole: null,
  };
  t.is(mapRole(inherited, {}), null);
  t.is(mapRole({ roleMapping: null, defaultRole: 'admin' }, { groups: ['ops'] }), undefined);
});
