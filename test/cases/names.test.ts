/** Valid names and email addresses of people. */
import test from 'ava';
import { EmailAddress } from '../../api/identity/accounts/names.ts';

test('an address has at most 64 characters before the @, the limit of mail servers', (t) => {
  t.is(EmailAddress.parse(` ${'A'.repeat(64)}@corp.example `), `${'a'.repeat(64)}@corp.example`);
  const { success, error } = EmailAddress.safeParse(`${'a'.repeat(65)}@corp.example`);
  t.false(success);
  t.deepEqual(
    error?.issues.map(({ message }) => message),
    ['has more than 64 characters before the @'],
  );
  t.is(EmailAddress.safeParse('x'.repeat(70)).success, false);
});
