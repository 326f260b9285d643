# SPDX-License-Identifier: MIT
module KnownModule
  LINE = __LINE__ + 8

  class Words
    def initialize(words)
      @words = words
    end

    def scan(wanted)
      @words.count { |word| word.upcase == wanted }
    end
  end

  WORDS = Words.new((1..400).map { |n| "word#{n}" })
end
