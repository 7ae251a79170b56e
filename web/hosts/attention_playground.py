"""A directive that puts an Attention Playground into a page of Sphinx, MyST or Jupyter Book.

Put this file beside conf.py (Jupyter Book: beside _config.yml), name it as an extension, and say where the playground is published:

    sys.path.insert(0, os.path.dirname(__file__))
    extensions = ["attention_playground"]
    attention_playground_site = "https://example.org/playground/"   # or "_static/playground/", with html_static_path = ["_static"]

If the site is of another origin, its server must send the header Access-Control-Allow-Origin: * with every file. If it does not, load the
classic script, which needs no header:

    attention_playground_script = "standalone.js"   # in place of "element.js", a module

In a page:

    .. attention-playground:: i-saw-a-saw
       :show: q,k,weights
       :lock: heads
       :height: 320
       :picture: weights.png
       :alt: The weights of four words.

The argument is the name of an example; the options are the attributes of the element, and `state` is a file with a saved board. HTML gets the
element. PDF, and whatever else has no scripts, gets the picture, or else a link to the board; so has a reader of HTML until the board is there.
"""
import html
import posixpath
from pathlib import Path
from urllib.parse import urlencode, urljoin

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.errors import ConfigError

# The module, and the classic script with everything in it.
SCRIPTS = {"element.js": ' type="module"', "standalone.js": ""}
ATTRIBUTES = ("show", "hide", "lock", "view", "lesson", "theme", "wheel", "loading", "src")


class board(nodes.General, nodes.Element):
    """One playground; its children are what stands in its place."""


def a_theme(text):
    return directives.choice(text, ("auto", "light", "dark"))


class AttentionPlayground(Directive):
    optional_arguments = 1
    option_spec = {
        **{name: directives.unchanged for name in ATTRIBUTES},
        "theme": a_theme,
        "state": directives.path,
        "fit": directives.flag,
        "height": directives.positive_int,
        "picture": directives.uri,
        "alt": directives.unchanged,
    }

    def run(self):
        env = self.state.document.settings.env
        wanted = {name: self.options[name] for name in ATTRIBUTES if name in self.options}
        if self.arguments:
            wanted["preset"] = self.arguments[0]
        node = board(attributes_=dict(wanted), height=self.options.get("height", 440), fit="fit" in self.options)
        if "state" in self.options:
            relative, path = env.relfn2path(self.options["state"])
            try:
                node["attributes_"]["state"] = Path(path).read_text(encoding="utf-8").strip()
            except OSError as error:
                return [self.state.document.reporter.error(f"attention-playground: state: {relative} cannot be read ({error.strerror}).", line=self.lineno)]
            env.note_dependency(relative)
        alt = self.options.get("alt", "An attention layer whose numbers can be changed.")
        if "picture" in self.options:
            node += nodes.image(uri=self.options["picture"], alt=alt)
        else:
            # A board of its own has no address that is short enough to be printed.
            address = urljoin(site_of(env.config), "./") + ("?" + urlencode(wanted, safe=",:/") if wanted else "")
            link = nodes.reference("", alt, refuri=address, internal=False) if "://" in address else nodes.Text(alt)
            node += nodes.paragraph("", "", link)
        return [node]


def site_of(config):
    site = config.attention_playground_site
    return site if site.endswith("/") else site + "/"


def open_element(self, node):
    attributes = dict(node["attributes_"])
    if node["fit"]:
        attributes["fit"] = ""
    attributes["style"] = f"display:block;height:{node['height']}px"
    words = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    self.body.append(f"<attention-playground{words}>")


def close_element(self, _node):
    self.body.append("</attention-playground>\n")


def nothing(_self, _node):
    """The children stand for it."""


def add_script(app, pagename, _template, context, doctree):
    """Only to pages that have a board."""
    if doctree is None or not any(True for _ in doctree.findall(board)):
        return
    site = site_of(app.config)
    if "://" not in site and not site.startswith("/"):
        up = posixpath.relpath(".", posixpath.dirname(pagename) or ".")
        site = posixpath.join(up, site)
    script = app.config.attention_playground_script
    kind = SCRIPTS[script]
    context["body"] = f'<script{kind} src="{html.escape(posixpath.join(site, script))}"></script>\n' + context.get("body", "")


def check_script(_app, config):
    script = config.attention_playground_script
    if script not in SCRIPTS:
        raise ConfigError(f"attention_playground_script must be one of {', '.join(map(repr, SCRIPTS))}, not {script!r}.")


def setup(app):
    app.add_config_value("attention_playground_site", "_static/playground/", "env")
    plain = (nothing, nothing)
    app.add_config_value("attention_playground_script", "element.js", "env")
    app.connect("config-inited", check_script)
    app.add_node(board, html=(open_element, close_element), latex=plain, text=plain, man=plain, texinfo=plain)
    app.add_directive("attention-playground", AttentionPlayground)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
