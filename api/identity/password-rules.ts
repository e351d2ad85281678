import { invalid } from '../kernel/errors.ts';

/** The commonest passwords of at least 12 characters, in lower case; repetitions and the like are found by rule. */
const commonest: ReadonlySet<string> = new Set(
  `password1234 password12345 password123456 password2024! password2025! password2026! passw0rd1234 p@ssw0rd1234 p@ssword1234
  mypassword123 yourpassword thisispassword iloveyou1234 iloveyou12345 letmein12345 letmeinplease welcome12345 welcome123456
  welcome2025! changeme1234 changeme12345 changemeplease administrator administrator1 admin1234567 admin12345678 root12345678
  secret123456 supersecret1 default12345 qwerty123456 qwerty1234567 qwertyuiop12 qwertyuiop123 qwertyuiop[] qwertyuiopas
  qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm asdfghjkl123 asdfghjklzxcvbnm zxcvbnm12345 1q2w3e4r5t6y
  1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1qaz2wsx3edc 1qaz2wsx3edc4rfv qazwsxedcrfv zaq12wsxcde3 123qweasdzxc 123456qwerty
  abcdefghijkl abcdefghijklm abcdefghijklmnopqrstuvwxyz abcd12345678 abc123456789 a1b2c3d4e5f6 123456789abc 123456789012
  1234567890123 123456789101112 12345678910 1234567890qwe 012345678901 0123456789012 987654321098 0987654321098 098765432109
  football1234 baseball1234 basketball12 superman1234 dragon123456 monkey123456 sunshine1234 princess1234 michael12345
  computer1234 internet1234 starwars1234 trustno1trustno1 correcthorsebatterystaple
  monitoring12 monitoring123 observability observability1 opentelemetry opentelemetry1 prometheus12 prometheus123`.split(
    /\s+/,
  ),
);

const product = /^(?:oiq)+$/;
/** A few characters over and over. */
const repetition = /^(.{1,4}?)\1{2,}.{0,3}$/su;

const problemOf = (password: string, email: string): string | undefined => {
  const lower = password.toLowerCase().normalize('NFKC');
  if (commonest.has(lower)) return 'is one of the commonest passwords; choose another';
  if (repetition.test(lower)) return 'repeats a few characters; choose another';
  const letters = lower.replace(/[^\p{L}]/gu, '');
  const [local = '', domain = ''] = email.toLowerCase().split('@');
  const mine = [email.toLowerCase(), local, domain].map((part) => part.replace(/[^\p{L}]/gu, '')).filter(Boolean);
  if (mine.includes(letters)) return 'is the e-mail address; choose another';
  if (product.test(letters)) return 'is the name of this product; choose another';
  return undefined;
};

/** Throws `VALIDATION_FAILED` on a password that somebody who knows the address would try. Its length is its schema's. */
export const refuseGuessable = (password: string, email: string, path = 'password'): void => {
  const problem = problemOf(password, email);
  if (problem !== undefined) throw invalid(path, problem);
};
