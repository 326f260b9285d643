#!/usr/bin/env ruby
# SPDX-License-Identifier: MIT
# Kinds of Ruby code, of which each runs for the same processor time by the program's own clock.
#
#   known_lines.rb TRUTH [KIND…]      TRUTH: function, line, share; by tabs
require_relative 'known_module'

SECONDS = (ENV['KNOWN_SECONDS'] || 0.3).to_f
NUMBERS = (1..2000).map { |n| n * 7919 % 10_007 }
WORDS = (1..400).map { |n| "word#{n}" }
LINE = {}

class Kinds
  LINE[:recursion] = __LINE__ + 2
  def recursion(n)
    n < 2 ? n : recursion(n - 1) + recursion(n - 2)
  end

  LINE[:deep] = __LINE__ + 2
  def deep(depth)
    depth > 0 ? 1 + deep(depth - 1) : NUMBERS.sum { |n| n * n % 7 }
  end

  LINE[:each] = __LINE__ + 3
  def each
    sum = 0
    NUMBERS.each do |n|
      sum += n * n % 101 if n.odd?
    end
    sum
  end

  LINE[:text] = __LINE__ + 2
  def text
    5.times { eval('s = 0; i = 0; (s += i * 3; i += 1) while i < 300; s') }
  end

  LINE[:defined] = __LINE__ + 2
  define_method(:defined) do
    WORDS.map { |word| word.upcase.reverse }.size
  end

  LINE[:failing] = __LINE__ + 3
  def failing
    count = 0
    WORDS.first(50).each do |word|
      raise ArgumentError, word
    rescue ArgumentError => e
      count += e.message.size
    end
    count
  end

  LINE[:sorting] = __LINE__ + 2
  def sorting
    NUMBERS.sort { |a, b| a % 101 <=> b % 101 }.first
  end

  LINE[:pattern] = __LINE__ + 3
  def pattern
    all = WORDS.join(' ')
    all.scan(/(\w+?)(\d)(\d*)\b/).size
  end

  LINE[:single] = __LINE__ + 2
  def self.single
    WORDS.each_with_object({}) { |word, table| table[word] = word.size }.size
  end

  LINE[:thread] = __LINE__ + 2
  def thread
    NUMBERS.inject { |a, b| (a * 31 + b) & 0xffff }
  end

  LINE[:child] = __LINE__ + 2
  def child
    NUMBERS.map { |n| n & 5 }.sum
  end
end

def clock
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

# Runs it for so long; how long it did.
def spend
  start = clock
  yield while clock - start < SECONDS
  clock - start
end

# The same in another process.
def spend_in_child(&work)
  from, to = IO.pipe
  process = fork do
    to.puts(spend(&work))
    to.close
    exit!(0)
  end
  to.close
  took = from.gets.to_f
  Process.wait(process)
  took
end

kinds = Kinds.new
adder = lambda do |step|
  WORDS.inject(0) { |sum, word| sum + word.size * step }
end
LINE[:closure] = __LINE__ - 2
LINE[:module] = KnownModule::LINE
KINDS = {
  recursion: ['Kinds#recursion', -> { kinds.recursion(14) }],
  deep: ['Kinds#deep', -> { kinds.deep(60) }],
  each: ['Kinds#each', -> { kinds.each }],
  text: ['Kinds#text', -> { kinds.text }],
  defined: ['block in <class:Kinds>', -> { kinds.defined }],
  failing: ['Kinds#failing', -> { kinds.failing }],
  sorting: ['Kinds#sorting', -> { kinds.sorting }],
  pattern: ['Kinds#pattern', -> { kinds.pattern }],
  single: ['Kinds.single', -> { Kinds.single }],
  closure: ['block in <main>', -> { adder.call(3) }],
  module: ['KnownModule::Words#scan', -> { KnownModule::WORDS.scan('word399') }],
  thread: ['Kinds#thread', -> { kinds.thread }],
  child: ['Kinds#child', -> { kinds.child }]
}.freeze

truth, *wanted = ARGV
wanted = wanted.empty? ? KINDS.keys : wanted.map(&:to_sym)
took = wanted.to_h do |kind|
  work = KINDS[kind][1]
  case kind
  when :child then [kind, spend_in_child(&work)]
  when :thread then [kind, Thread.new { spend(&work) }.value]
  else [kind, spend(&work)]
  end
end
whole = clock + (took[:child] || 0)
File.write(truth, wanted.map { |kind| format("%s\t%d\t%.4f\n", KINDS[kind][0], LINE[kind], took[kind] / whole) }.join)
