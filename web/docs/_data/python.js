// What the Python package offers, from its signatures and docstrings.
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {root} from '../sources.js';

// Reads the sources without running them: neither NumPy nor PyTorch is needed.
const READER = `
import ast, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
trees = {path.stem: ast.parse(path.read_text("utf-8")) for path in sorted(folder.glob("*.py"))}
def signature(node, name):
    arguments = ast.unparse(node.args).replace("self, ", "", 1).replace("self", "", 1)
    return f"{name}({arguments})"
def described(node, name, owner=""):
    is_property = any(getattr(mark, "id", "") in ("property", "cached_property") for mark in node.decorator_list)
    return {"name": name, "signature": owner + (name if is_property else signature(node, name)), "words": ast.get_docstring(node)}
exported = [alias.asname or alias.name for node in ast.walk(trees["__init__"]) if isinstance(node, ast.ImportFrom) for alias in node.names]
exported += [word for node in trees["__init__"].body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__" for word in ast.literal_eval(node.value)]
exported += [node.name for node in trees["__init__"].body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
found = {}
for tree in trees.values():
    for node in tree.body:
        if getattr(node, "name", None) not in exported or node.name.startswith("_"): continue
        if isinstance(node, ast.FunctionDef): found[node.name] = {**described(node, node.name), "members": []}
        if isinstance(node, ast.ClassDef):
            start = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
            members = [described(one, one.name, node.name[0].lower() + node.name[1:] + ".") for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
            found[node.name] = {"name": node.name, "signature": signature(start, node.name) if start else node.name, "words": ast.get_docstring(node), "members": [one for one in members if one["words"]]}
print(json.dumps({"about": ast.get_docstring(trees["__init__"]), "names": [found[name] for name in sorted(found)]}))
`;
export default JSON.parse(execFileSync('python3', ['-c', READER, join(root, 'web/python/attention_playground')], {encoding: 'utf8'}));
