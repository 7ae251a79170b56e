#!/usr/bin/env python3
"""Makes the three faces beside this file from the full fonts: only the glyphs that the playground draws, no hinting,
no kerning, no substitutions (stb_truetype uses none of them).

    python3 make.py Inter-Regular.otf Inter-SemiBold.otf JetBrainsMono-Regular.ttf

Needs fonttools 4.38 or newer. The inputs came from Debian's fonts-inter 4.1 and fonts-jetbrains-mono 2.304
(under /usr/share/fonts once installed). Glyphs asked for that a face does not have are listed; the views draw those
as vector icons. Inter stays in its CFF form: converted to TrueType outlines it is 3 KB larger a face after Brotli.
"""
import pathlib
import sys

from fontTools import subset
from fontTools.cffLib import cffStandardStrings

BASIC, LATIN_1 = range(0x20, 0x7F), range(0xA0, 0x100)
SYMBOLS = (
    "−×÷·±√Σ∞≤≥≈≠∈‖→←↑↓⟶↶↷↺⤢▾✎◐ᵀ∂Δ"
    "₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹αβγδεζηθικλμνξοπρστυφχψω…–—“”‘’•✓✕"
)
MONO_SYMBOLS = "²é−×÷·√Σ∞≤≥→₀₁₂₃₄₅₆₇₈₉…–ᵀ"
UNUSED_TABLES = ["GPOS", "GSUB", "GDEF", "BASE", "DSIG", "MATH", "STAT", "gasp", "kern", "meta"]


def characters(path):
    mono = "Mono" in path.name
    ranges = [BASIC] if mono else [BASIC, LATIN_1]
    return {code for r in ranges for code in r} | {ord(c) for c in (MONO_SYMBOLS if mono else SYMBOLS)}


def drop_names(font):
    """Nothing here looks glyphs up by name, so the names become those that need no storing: 1 KB less a face after Brotli."""
    old = font.getGlyphOrder()
    new = dict(zip(old, cffStandardStrings))
    top = font["CFF "].cff.topDictIndex[0]
    strings = top.CharStrings
    strings.charStrings = {new[name]: index for name, index in strings.charStrings.items()}
    top.charset = strings.charset = list(new.values())
    font["hmtx"].metrics = {new[name]: metric for name, metric in font["hmtx"].metrics.items()}
    for table in font["cmap"].tables:
        table.cmap = {code: new[name] for code, name in table.cmap.items()}
    font.setGlyphOrder(top.charset)


def main(paths):
    for path in map(pathlib.Path, paths):
        options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 1, 2, 13, 14], notdef_outline=True,
                                 desubroutinize=True)
        options.drop_tables += UNUSED_TABLES
        font = subset.load_font(str(path), options)
        missing = [f"{code:04X} {chr(code)}" for code in sorted(characters(path)) if code not in font.getBestCmap()]
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=characters(path))
        subsetter.subset(font)
        if "CFF " in font:
            drop_names(font)
        font.recalcTimestamp = False
        out = pathlib.Path(__file__).with_name(path.name)
        font.save(out)
        print(f"{out.name}: {out.stat().st_size} bytes, {len(font.getBestCmap())} characters; "
              f"not in the face: {', '.join(missing) or 'none'}")


main(sys.argv[1:])
