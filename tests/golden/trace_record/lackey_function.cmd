lode trace record --with lackey --function main -- true
