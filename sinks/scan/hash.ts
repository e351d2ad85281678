const rotateLeft = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

const mixLane = (lane: number): number => {
  let hash = lane;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
};

const c1 = 0x239b961b;
const c2 = 0xab0e9789 | 0;
const c3 = 0x38b34ae5;
const c4 = 0xa1e38b93 | 0;

const readWord = (bytes: Uint8Array, offset: number): number =>
  (bytes[offset] as number) |
  ((bytes[offset + 1] as number) << 8) |
  ((bytes[offset + 2] as number) << 16) |
  ((bytes[offset + 3] as number) << 24);

/**
 * MurmurHash3's x86 128-bit variant. The four lanes are the seed before `update` and the hash after it. One call with
 * a zero seed gives the published hash. Further calls chain, so a hash over several byte ranges needs no copy.
 */
export class Murmur {
  a = 0;
  b = 0;
  c = 0;
  d = 0;

  seed(a: number, b = a, c = a, d = a): this {
    this.a = a | 0;
    this.b = b | 0;
    this.c = c | 0;
    this.d = d | 0;
    return this;
  }

  update(bytes: Uint8Array, start: number, end: number): this {
    let { a, b, c, d } = this;
    let offset = start;
    for (; offset + 16 <= end; offset += 16) {
      a ^= Math.imul(rotateLeft(Math.imul(readWord(bytes, offset), c1), 15), c2);
      a = (Math.imul((rotateLeft(a, 19) + b) | 0, 5) + 0x561ccd1b) | 0;
      b ^= Math.imul(rotateLeft(Math.imul(readWord(bytes, offset + 4), c2), 16), c3);
      b = (Math.imul((rotateLeft(b, 17) + c) | 0, 5) + 0x0bcaa747) | 0;
      c ^= Math.imul(rotateLeft(Math.imul(readWord(bytes, offset + 8), c3), 17), c4);
      c = (Math.imul((rotateLeft(c, 15) + d) | 0, 5) + 0x96cd1c35) | 0;
      d ^= Math.imul(rotateLeft(Math.imul(readWord(bytes, offset + 12), c4), 18), c1);
      d = (Math.imul((rotateLeft(d, 13) + a) | 0, 5) + 0x32ac3b17) | 0;
    }
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
    this.#mixRemainder(bytes, offset, end);
    this.#finish(end - start);
    return this;
  }

  #mixRemainder(bytes: Uint8Array, offset: number, end: number): void {
    let [k1, k2, k3, k4] = [0, 0, 0, 0];
    for (let index = end - offset - 1; index >= 0; index--) {
      const bits = (bytes[offset + index] as number) << ((index & 3) * 8);
      if (index >= 12) k4 |= bits;
      else if (index >= 8) k3 |= bits;
      else if (index >= 4) k2 |= bits;
      else k1 |= bits;
    }
    this.d ^= Math.imul(rotateLeft(Math.imul(k4, c4), 18), c1);
    this.c ^= Math.imul(rotateLeft(Math.imul(k3, c3), 17), c4);
    this.b ^= Math.imul(rotateLeft(Math.imul(k2, c2), 16), c3);
    this.a ^= Math.imul(rotateLeft(Math.imul(k1, c1), 15), c2);
  }

  #finish(length: number): void {
    const b = this.b ^ length;
    const c = this.c ^ length;
    const d = this.d ^ length;
    const sum = ((this.a ^ length) + b + c + d) | 0;
    const first = mixLane(sum);
    const second = mixLane((b + sum) | 0);
    const third = mixLane((c + sum) | 0);
    const fourth = mixLane((d + sum) | 0);
    this.a = (first + second + third + fourth) | 0;
    this.b = (second + this.a) | 0;
    this.c = (third + this.a) | 0;
    this.d = (fourth + this.a) | 0;
  }
}
