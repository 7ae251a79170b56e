// The types of the element, as TypeScript has them.
import {read} from '../sources.js';

const text = read('web/element.d.ts');
/** Each exported declaration with the comment before it: [{name, code}]. */
const declarations = text.split(/^(?=(?:\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export )/m).flatMap((code) => {
  const [, name] = /^export (?:declare )?(?:interface|type|class|const|function) (\w+)/m.exec(code) ?? [];
  return name ? [{name, code: code.trim()}] : [];
});
const ofClass = declarations.find(({name}) => name === 'AttentionPlayground').code;
/** The signature of a method, or of a property, of the class. */
const signatureOf = (name) => ofClass.split('\n').find((line) => new RegExp(`^ {2}(readonly |static |get |set )?${name}\\??[(:<]`).test(line))?.trim().replace(/;$/, '');
export default {declarations, signatureOf};
