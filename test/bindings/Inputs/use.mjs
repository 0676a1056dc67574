// Prints what use.rs and use.go print.

const { Model } = await import(process.argv[2]);
const model = Model.open(process.argv[3], { threads: 1 });
const caught = (promise) => promise.then(() => { throw new Error('no error'); }, (error) => error);
console.log('inputs', model.inputs.join(' '));
console.log('about', model.about.model === 'rnnsearch');

const lines = ['ein Haus', 'Baum Baum ein', 'ein nie'];
for (const [best] of await model.text(lines, { beam: 3, maxLength: 6 }))
  console.log(`${best.logp.toFixed(6)}\t${best.text}`);

const search = { beam: 1, maxLength: 6, minLength: 4 }, one = ['ein Haus'];
const symbols = [];
for await (const { symbol } of model.stream(one, search))
  if (symbol !== '</s>')
    symbols.push(symbol);
console.log('heard all', symbols.join(' ') === (await model.text(one, search))[0][0].text);
let count = 0;
await model.text(one, search, () => ++count < 2);
console.log('ended after', count);
const error = await caught(model.text(one, search, () => model.cancel()));
console.log(`${error.code === 'cancelled'}: ${error.message}`);
console.log((await caught(model.text(one, search, () => { throw new Error('thrown'); }))).message);

const integers = (shape, values) => ({ shape, values: BigInt64Array.from(values, BigInt) });
const lengths = integers([2], [3, 3]);
const src = { src: integers([2, 3], [3, 4, 1, 3, 5, 1]), 'src.length': lengths };
const batch = { ...src, tgt: integers([2, 3], [3, 4, 1, 3, 6, 1]), 'tgt.length': lengths };
const { logp } = await model.loss(batch);
console.log('log p', logp[0].toFixed(6), logp[1].toFixed(6));
const { align } = await model.run(batch, ['align']);
console.log(`align [${align[1].shape.join(', ')}]`,
            align[1].values.subarray(0, 3).reduce((a, b) => a + b).toFixed(6));
console.log('decoded', (await model.decode(src, search)).length);

console.log((await caught(model.loss(src))).message);
console.log((await caught(model.loss({ src: { ...src.src, shape: [2, 2] } }))).message.replace('[2,2]', '[2, 2]'));
console.log((await caught(model.text(['a\0b'], search))).message.replace('\\u0000', '\\0').replaceAll('"', "'"));
console.log((await caught(model.run(batch, ['nothing']))).message);
console.log((await caught(model.text(lines, { ...search, prefixes: ['a', 'a'] }))).message);
try {
  Model.open('nowhere.so');
} catch (error) {
  console.log(error.message);
}

// What waits is not lost: a closed model answers what has begun, and a loop may be left.
const begun = model.text(lines, search);
model.close();
if ((await begun).length !== 3 || (await caught(model.text(lines))).message !== 'the model is closed')
  throw new Error('a closed model');
const again = Model.open(process.argv[3]);
for await (const _ of again.stream(one, search))
  break;
const busy = await Promise.allSettled([again.text(lines, search), again.text(lines, search)]);
if (!busy.some(({ status }) => status === 'fulfilled') ||
    busy.some(({ reason }) => reason && reason.code !== 'busy'))
  throw new Error('two calls at once');
